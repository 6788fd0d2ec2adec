// A timeline's spans, sorted into lanes: one an engine or a thread, more where several frames share one at a time.

/** Clocks of host and device agree to about this. */
const LANE_TOLERANCE_MS = 0.001;

function laneGroups(backend) {
  const cuda = backend !== 'cpu';
  return [
    { label: 'decoder', stages: ['decode', 'preprocess'] },
    { label: 'H2D', stages: ['h2d'] },
    { label: cuda ? 'compute' : 'filter', stages: ['kernels'] },
    { label: 'D2H', stages: ['d2h'] },
    { label: 'encoder', stages: ['encode'] },
  ];
}

/** {frame, slot, stage, begin, end} of each span, in the order of their begins. */
function spansOf(timeline) {
  const spans = timeline.flatMap(({ frame, slot, spans: stages }) =>
    Object.entries(stages).map(([stage, [begin, end]]) => ({ frame, slot, stage, begin, end })),
  );
  return spans.sort((a, b) => a.begin - b.begin || a.end - b.end);
}

/** Gives each span the first lane of its group that is free when it begins. */
function assignLanes(spans) {
  const ends = [];
  for (const span of spans) {
    let lane = ends.findIndex((end) => end <= span.begin + LANE_TOLERANCE_MS);
    if (lane < 0) lane = ends.length;
    ends[lane] = span.end;
    span.lane = lane;
  }
  return ends.length;
}

/** Sets each span's `lane`, counted over all groups, and returns the lanes' names. */
function layOutLanes(spans, backend) {
  const names = [];
  for (const { label, stages } of laneGroups(backend)) {
    const members = spans.filter((span) => stages.includes(span.stage));
    const count = assignLanes(members);
    for (const span of members) span.lane += names.length;
    for (let i = 0; i < count; ++i) names.push(count > 1 ? `${label} ${i + 1}` : label);
  }
  return names;
}

/** [{time, count}]: how many spans run from that time on. */
function concurrency(spans) {
  const changes = spans
    .flatMap((span) => [
      [span.begin, 1],
      [span.end, -1],
    ])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const steps = [];
  let count = 0;
  for (const [time, change] of changes) {
    count += change;
    if (steps.at(-1)?.time === time) steps.at(-1).count = count;
    else steps.push({ time, count });
  }
  return steps;
}

/** The steps as an area in a box of `top` in height whose x is the time. */
function concurrencyPath(steps, top) {
  let path = `M0 ${top}`;
  for (const { time, count } of steps) path += `H${time}V${top - count}`;
  return `${path}V${top}Z`;
}

/** What other frames do while `span` runs. */
function meanwhile(span, spans) {
  return spans.filter((other) => other.frame !== span.frame && other.begin < span.end && other.end > span.begin);
}
