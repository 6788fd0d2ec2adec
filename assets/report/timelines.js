// The timelines of a block's modes, on one time scale unless asked otherwise.

class TimelineGroup {
  constructor(block, backend, id) {
    this.linked = true;
    this.hintId = `${id}-hint`;
    this.timelines = Object.entries(block.modes)
      .filter(([, mode]) => mode.timeline?.some((frame) => Object.keys(frame.spans).length > 0))
      .map(([name, mode]) => new Timeline(name, mode, backend, this));
    this.extent = Math.max(...this.timelines.map((timeline) => timeline.extent));
    this.showAll();
  }

  showAll() {
    for (const timeline of this.timelines) {
      timeline.view = { begin: 0, span: timeline.full };
      timeline.render();
    }
  }

  scaleChoice() {
    const box = element('input', { type: 'checkbox', checked: '' });
    box.addEventListener('change', () => {
      this.linked = box.checked;
      this.showAll();
    });
    return element('label', { class: 'choice' }, box, 'One time scale for all modes');
  }
}

function timelineHint(id) {
  const keys = (...names) => names.flatMap((name) => [element('kbd', {}, name), ' ']);
  return element(
    'p',
    { class: 'hint', id },
    element('span', {}, 'Point at or tap a span to follow its frame. '),
    element(
      'span',
      {},
      'Drag to pan; pinch, or ',
      ...keys('Ctrl'),
      'and wheel, to zoom; double-click a span to zoom to its frame. ',
    ),
    element(
      'span',
      { class: 'keys' },
      'Keys: ',
      ...keys('←', '→'),
      'frame, ',
      ...keys('↑', '↓'),
      'stage, ',
      ...keys('+', '−', '0'),
      'zoom, ',
      ...keys('Enter'),
      'zoom to the frame, ',
      ...keys('PgUp', 'PgDn'),
      'pan.',
    ),
  );
}

function timelines(block, backend, id) {
  const group = new TimelineGroup(block, backend, id);
  if (group.timelines.length === 0) return null;
  const tools = element(
    'div',
    { class: 'timeline-tools' },
    legend(usedStages(block)),
    group.timelines.length > 1 ? group.scaleChoice() : null,
  );
  return element(
    'figure',
    { class: 'timelines' },
    caption(
      'h3',
      'Timelines',
      `${group.timelines[0].frames} frames of each mode's last round, without their neighbours. ` +
        'Where spans lie above each other, stages of different frames run at the same time.',
    ),
    tools,
    timelineHint(group.hintId),
    ...group.timelines.map((timeline) => timeline.element),
  );
}
