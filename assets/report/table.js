// The table of the modes: a row a stage, a column a mode.

function tableRow(head, cells, attributes = {}) {
  const made = element('tr', attributes, element('th', { scope: 'row' }, ...[head].flat()));
  for (const cell of cells) made.append(cell instanceof Node ? cell : element('td', {}, cell));
  return made;
}

function tableGroup(title, columns, rows) {
  const head = element('th', { scope: 'rowgroup', colspan: columns + 1 }, title);
  return element('tbody', {}, element('tr', { class: 'group' }, head), ...rows);
}

/** A stage's time with a bar under it, on one scale for the whole table. */
function stageCell(ms, key, longest, decimals) {
  if (!(ms > 0)) return element('td', { class: 'none' }, '–');
  const bar = element('span', {
    class: `cell-bar stage-${key}`,
    style: `width:${(100 * ms) / longest}%`,
    'aria-hidden': 'true',
  });
  return element('td', { class: 'stage-cell' }, fixed(ms, decimals), bar);
}

function stageRows(modes) {
  const all = modes.flatMap(([, mode]) => STAGES.map((stage) => stageMs(mode, stage.key)));
  const decimals = decimalsFor(all);
  const longest = Math.max(...all);
  const rows = STAGES.map((stage) =>
    tableRow(
      [swatch(stage.key), stage.label],
      modes.map(([, mode]) => stageCell(stageMs(mode, stage.key), stage.key, longest, decimals)),
      { 'data-stage': stage.key },
    ),
  );
  rows.push(
    tableRow(
      'sum of the stages',
      modes.map(([, mode]) => fixed(stageSum(mode), decimals)),
      { class: 'sum' },
    ),
  );
  return rows;
}

function spread(mode) {
  const range =
    isNumber(mode.speedup_min) && mode.speedup_max > mode.speedup_min
      ? element('small', {}, `${fixed(mode.speedup_min, 2)}–${fixed(mode.speedup_max, 2)}`)
      : null;
  return element('td', {}, times(mode.speedup), range);
}

function resultRows(modes) {
  const all = modes.map(([, mode]) => mode);
  const frameDecimals = decimalsFor(all.map((mode) => mode.frame_ms));
  const cpuDecimals = decimalsFor(all.map((mode) => mode.cpu_ms));
  return [
    tableRow(
      'frame time, ms',
      all.map((mode) => fixed(mode.frame_ms, frameDecimals)),
      { class: 'strong' },
    ),
    tableRow(
      'fps',
      all.map((mode) => framesPerSecond(mode.fps)),
    ),
    tableRow(['speed-up', element('small', {}, 'and its spread over the rounds')], all.map(spread)),
    tableRow(
      'stages at once, mean',
      all.map((mode) => fixed(mode.overlap, 2)),
    ),
    tableRow(
      'CPU time, ms',
      all.map((mode) => fixed(mode.cpu_ms, cpuDecimals)),
    ),
  ];
}

function boundRows(modes, block) {
  const { serial_ms: serial, ideal_ms: ideal, cores_ms: cores } = block.bounds ?? {};
  const ratios = (bound) => modes.map(([, mode]) => times(mode.frame_ms / bound));
  const rows = [];
  if (serial > 0)
    rows.push(
      tableRow(['serial', element('small', {}, `${milliseconds(serial)}, all stages in turn`)], ratios(serial)),
    );
  if (ideal > 0) {
    rows.push(
      tableRow(
        ['ideal', element('small', {}, `${milliseconds(ideal)}, ${stageLabel(block.bound_by)} alone`)],
        ratios(ideal),
      ),
    );
  }
  if (cores > 0)
    rows.push(
      tableRow(['cores', element('small', {}, `${milliseconds(cores)}, CPU time over all cores`)], ratios(cores)),
    );
  return rows;
}

function busyRows(modes, backend) {
  const engines =
    backend === 'cpu'
      ? [['filters', 'compute']]
      : [
          ['H2D engine', 'h2d'],
          ['compute', 'compute'],
          ['D2H engine', 'd2h'],
        ];
  return engines.map(([label, key]) =>
    tableRow(
      label,
      modes.map(([, mode]) => percent(mode.busy?.[key])),
    ),
  );
}

function modeTable(report, block, title) {
  const modes = Object.entries(block.modes);
  const head = element(
    'tr',
    {},
    element('td', { class: 'corner' }),
    ...modes.map(([name]) => element('th', { scope: 'col' }, name)),
  );
  return element(
    'figure',
    { class: 'modes' },
    caption('h3', 'The modes side by side', 'Times are milliseconds a frame.'),
    element(
      'table',
      {},
      element('caption', { class: 'unseen' }, `${title}: stage times, frame time and bounds of each mode`),
      element('thead', {}, head),
      tableGroup('Stage times, ms a frame', modes.length, stageRows(modes)),
      tableGroup('Result', modes.length, resultRows(modes)),
      tableGroup('Frame time against the bounds', modes.length, boundRows(modes, block)),
      tableGroup(report.backend === 'cpu' ? 'Busy' : 'Engines busy', modes.length, busyRows(modes, report.backend)),
    ),
  );
}
