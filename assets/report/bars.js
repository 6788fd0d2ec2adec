// What a frame costs: the stages of each mode in a row, the frame time under them, and the two bounds.

function boundLine(kind, label, ms, top) {
  const share = (100 * ms) / top;
  const text = element('span', {}, `${label} ${milliseconds(ms)}`);
  const side = share > 50 ? 'before' : 'after';
  return element(
    'div',
    { class: `bound ${kind} ${side}`, style: `left:${share}%`, 'data-bound': kind, 'data-ms': ms },
    text,
  );
}

function stackSegment(name, stage, begin, ms, top) {
  const label = element(
    'b',
    {},
    element('span', { class: 'segment-name' }, stage.label),
    ' ',
    fixed(ms, decimalsFor([ms])),
  );
  const made = element(
    'div',
    {
      class: `segment stage-${stage.key}`,
      style: `left:${(100 * begin) / top}%;width:${(100 * ms) / top}%`,
      'data-mode': name,
      'data-stage': stage.key,
      'data-ms': ms,
    },
    label,
  );
  made.addEventListener('pointerenter', () => {
    const box = made.getBoundingClientRect();
    tooltip.show(
      box,
      box,
      tooltipTitle(stage.key, `${stage.label}, ${name}`),
      tooltipLine(`${fixed(ms, 3)} ms a frame`),
    );
  });
  made.addEventListener('pointerleave', () => tooltip.hide());
  return made;
}

function modeBars(name, mode, top) {
  const stack = element('div', { class: 'stack' });
  let begin = 0;
  for (const stage of STAGES) {
    const ms = stageMs(mode, stage.key);
    if (ms > 0) stack.append(stackSegment(name, stage, begin, ms, top));
    begin += ms;
  }
  const frameTime = element('div', {
    class: 'frame-time',
    style: `width:${(100 * mode.frame_ms) / top}%`,
    'data-mode': name,
    'data-frame-ms': mode.frame_ms,
  });
  const head = element(
    'p',
    { class: 'row-head' },
    element('strong', {}, name),
    element('span', {}, `stages ${milliseconds(begin)}`),
    element('span', {}, `frame time ${milliseconds(mode.frame_ms)}`),
  );
  return element('div', { class: 'mode-bars' }, head, stack, frameTime);
}

function barsText(block) {
  return Object.entries(block.modes)
    .map(([name, mode]) => {
      const stages = STAGES.filter((stage) => stageMs(mode, stage.key) > 0).map(
        (stage) => `${stage.label} ${milliseconds(stageMs(mode, stage.key))}`,
      );
      return `${name}: ${stages.join(', ')}; frame time ${milliseconds(mode.frame_ms)}.`;
    })
    .join(' ');
}

function barsAxis(top) {
  const { values, decimals } = ticks(0, top, 5);
  const marks = values.map((value, i) => {
    const unit = i === values.length - 1 ? ' ms' : '';
    return element('span', { style: `left:${(100 * value) / top}%` }, `${fixed(value, decimals)}${unit}`);
  });
  if (values.at(-1) > 0.93 * top) marks.at(-1).className = 'last';
  return element('div', { class: 'axis' }, ...marks);
}

function stageBars(block) {
  const modes = Object.entries(block.modes);
  const { serial_ms: serial = 0, ideal_ms: ideal = 0 } = block.bounds ?? {};
  const top = 1.02 * Math.max(serial, ideal, ...modes.flatMap(([, mode]) => [mode.frame_ms, stageSum(mode)]));
  const lines = element('div', { class: 'bounds' });
  if (serial > 0) lines.append(boundLine('serial', 'serial bound', serial, top));
  if (ideal > 0) lines.append(boundLine('ideal', 'ideal bound', ideal, top));
  return element(
    'figure',
    { class: 'cost' },
    caption(
      'h3',
      'What a frame costs',
      'Coloured: the stages of one frame, one after the other. ' +
        'Thin: the time between frames that leave, which overlap makes shorter.',
    ),
    legend(usedStages(block)),
    element(
      'div',
      { class: 'bars', role: 'img', 'aria-label': barsText(block) },
      lines,
      ...modes.map(([name, mode]) => modeBars(name, mode, top)),
      barsAxis(top),
    ),
  );
}
