// What was found, in one sentence, and what it was measured on.

/** Modes whose frame times differ by less are told as equally fast. */
const TIE = 0.01;

/** The fastest mode, the names of all that are as fast, and the mode that the others are measured against: sync, or
 *  the first. */
function outcome(block) {
  const modes = Object.entries(block.modes).map(([name, mode]) => ({ name, ...mode }));
  const best = modes.reduce((fastest, mode) => (mode.frame_ms < fastest.frame_ms ? mode : fastest));
  const leaders = modes.filter((mode) => mode.frame_ms <= (1 + TIE) * best.frame_ms).map((mode) => mode.name);
  return { modes, best, leaders, base: modes.find((mode) => mode.name === 'sync') ?? modes[0] };
}

function headline(block) {
  const { modes, best, leaders, base } = outcome(block);
  if (modes.length === 1) return `${best.name}: ${framesPerSecond(best.fps)} fps`;
  if (leaders.includes(base.name)) return `No mode is faster than ${base.name}`;
  return `${leaders.join(' and ')} ${leaders.length > 1 ? 'are' : 'is'} ${times(best.speedup)} as fast as ${base.name}`;
}

function summaryText(block, rounds) {
  const { modes, best, base } = outcome(block);
  const sentences = [
    `A frame takes ${milliseconds(best.frame_ms)} in ${best.name} mode (${framesPerSecond(best.fps)} fps)`,
  ];
  if (best !== base) sentences[0] += `, ${milliseconds(base.frame_ms)} in ${base.name}`;
  if (modes.length > 1 && best !== base && rounds > 1) {
    sentences.push(
      `Over ${rounds} rounds the speed-up lay between ${times(best.speedup_min)} and ${times(best.speedup_max)}`,
    );
  }
  const ideal = block.bounds?.ideal_ms;
  if (ideal > 0) {
    sentences.push(
      `With full overlap the slowest stage, ${stageLabel(block.bound_by)}, would set the pace: ${milliseconds(ideal)}`,
    );
  }
  return `${sentences.join('. ')}.`;
}

function formatText(format) {
  if (!format) return null;
  const size = `${format.width} × ${format.height}`;
  return [size, format.pixel_format, format.matrix, format.range].filter(Boolean).join(' · ');
}

function day(date) {
  const parsed = new Date(date ?? NaN);
  if (Number.isNaN(parsed.getTime())) return null;
  const text = parsed.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
  return element('time', { datetime: date }, text);
}

function facts(report) {
  const filters = (report.filters ?? []).map((filter) => element('code', {}, filter));
  const input = formatText(report.input_format);
  const output = formatText(report.output_format);
  const rows = [
    ['Input', report.input, input],
    ['Output', report.output, output === input ? 'format as the input' : output],
    ['Filters', ...(filters.length > 0 ? filters : ['none'])],
    ['Device', report.device],
    ['Slots', isNumber(report.slots) ? String(report.slots) : null],
    ['Measured', day(report.date)],
  ];
  const list = element('dl', { class: 'facts' });
  for (const [name, ...values] of rows) {
    const known = values.filter((value) => value !== null && value !== undefined && value !== '');
    if (known.length === 0) continue;
    const parts = known.map((value) => (typeof value === 'string' ? element('span', {}, value) : value));
    list.append(element('div', { class: name.toLowerCase() }, element('dt', {}, name), element('dd', {}, ...parts)));
  }
  return list;
}

function summary(report, block) {
  return element(
    'section',
    { class: 'summary', 'aria-labelledby': 'headline' },
    element('h1', { id: 'headline' }, headline(block)),
    element('p', { class: 'lede' }, summaryText(block, report.rounds)),
    facts(report),
  );
}

function versions(report) {
  const parts = [`framelane ${report.framelane ?? ''}`.trim()];
  for (const [name, version] of Object.entries(report.versions ?? {})) {
    const { built, running } = version;
    parts.push(
      built && running && built !== running
        ? `${name} ${running} (built with ${built})`
        : `${name} ${running || built}`,
    );
  }
  return parts.map((part) => element('span', {}, part));
}
