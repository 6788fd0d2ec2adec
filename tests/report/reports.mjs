// Reports made by hand: engines that serve one frame at a time, with stage times that are written down here. The
// expectations of check_report.mjs are these figures.

const STAGES = ['decode', 'preprocess', 'h2d', 'kernels', 'd2h', 'encode'];
const sum = (values) => values.reduce((total, value) => total + value, 0);
const round = (value) => Math.round(value * 1e6) / 1e6;

/** What serves a stage: stages of one resource queue behind each other. */
const RESOURCES = {
  sync: () => 'all',
  async: (stage) => ({ decode: 'decoder', preprocess: 'decoder', encode: 'encoder' })[stage] ?? 'stream',
  multistream: (stage) => ({ decode: 'decoder', preprocess: 'decoder', encode: 'encoder' })[stage] ?? stage,
};

/** Spans of `count` frames, `workers` filtered at once. A frame waits for the slot of the one `slots` before. */
function schedule(mode, stages, { count, slots, workers }) {
  const free = {};
  const frames = [];
  for (let i = 0; i < count; ++i) {
    let time = mode === 'sync' || i < slots ? 0 : frames[i - slots].end;
    const spans = {};
    STAGES.forEach((stage, place) => {
      if (!(stages[stage] > 0)) return;
      const base = RESOURCES[mode](stage);
      const resource = base === 'kernels' && workers > 1 && mode === 'multistream' ? `${base}${i % workers}` : base;
      const duration = stages[stage] * (1 + 0.05 * Math.sin(1.7 * i + place) + (i % 97 === 96 ? 0.6 : 0));
      const begin = Math.max(time, free[resource] ?? 0);
      time = begin + duration;
      free[resource] = time;
      spans[stage] = [begin, time];
    });
    frames.push({ frame: i, slot: i % slots, spans, end: time });
  }
  return frames;
}

function timelineOf(frames, firstFrame) {
  const start = Math.min(...frames.flatMap(({ spans }) => Object.values(spans).map(([begin]) => begin)));
  return frames.map(({ frame, slot, spans }) => ({
    frame: frame + firstFrame,
    slot,
    spans: Object.fromEntries(
      Object.entries(spans).map(([stage, times]) => [stage, times.map((time) => round(time - start))]),
    ),
  }));
}

function modeReport(mode, stages, settings) {
  const frames = schedule(mode, stages, settings);
  const frameTimes = frames.slice(1).map(({ end }, i) => round(end - frames[i].end));
  const frameMs = round(sum(frameTimes) / frameTimes.length);
  const busy = (stage) => Math.min(1, (stages[stage] ?? 0) / frameMs);
  return {
    frame_ms: frameMs,
    fps: 1000 / frameMs,
    cpu_ms: round(sum(['decode', 'preprocess', 'encode'].map((s) => 1.4 * (stages[s] ?? 0)))),
    overlap: sum(Object.values(stages)) / frameMs,
    stages: Object.fromEntries(STAGES.map((stage) => [`${stage}_ms`, stages[stage] ?? 0])),
    busy: { h2d: busy('h2d'), compute: busy('kernels'), d2h: busy('d2h') },
    frame_times_ms: frameTimes,
    timeline: timelineOf(frames.slice(150, 180), settings.firstFrame ?? 0),
  };
}

/** `stagesOf`: stage times by mode. */
function blockReport(stagesOf, settings, boundBy, advice, coresMs = null) {
  const modes = Object.fromEntries(
    Object.entries(stagesOf).map(([mode, stages]) => [mode, modeReport(mode, stages, settings)]),
  );
  const base = Object.values(modes)[0].frame_ms;
  for (const mode of Object.values(modes)) {
    mode.speedup = base / mode.frame_ms;
    mode.speedup_min = mode === Object.values(modes)[0] ? 1 : 0.97 * mode.speedup;
    mode.speedup_max = mode === Object.values(modes)[0] ? 1 : 1.02 * mode.speedup;
  }
  const last = Object.values(stagesOf).at(-1);
  const engines = {
    ...last,
    decode: (last.decode ?? 0) + (last.preprocess ?? 0),
    preprocess: 0,
    kernels: (last.kernels ?? 0) / settings.workers,
  };
  return {
    modes,
    bounds: { serial_ms: sum(Object.values(last)), ideal_ms: Math.max(...Object.values(engines)), cores_ms: coresMs },
    bound_by: boundBy,
    advice,
  };
}

function report(fields) {
  const format = { width: 1920, height: 1080, pixel_format: 'yuv420p', matrix: 'bt709', range: 'limited' };
  return {
    framelane: '0.1.0',
    command: 'compare',
    date: '2026-12-01T16:20:00Z',
    input: 'clip.mp4',
    output: 'null (frames are counted and dropped)',
    filters: ['gblur=sigma=2', 'eq=contrast=1.1:saturation=1.2'],
    input_format: format,
    output_format: format,
    device: 'NVIDIA H200 (cuda:0)',
    backend: 'cuda',
    slots: 6,
    cuda_graphs: false,
    rounds: 5,
    frames_per_round: 300,
    versions: {
      FFmpeg: { built: '5.1.6', running: '5.1.6' },
      OpenCV: { built: '4.6.0', running: '4.6.0' },
      CUDA: { built: '13.0', running: '13.1' },
    },
    ...fields,
  };
}

/** 1080p on a fast GPU: the decoder is the longest by far, spans of the kernels are tiny. */
export function fastGpu() {
  const pageable = { h2d: 0.231, kernels: 0.027, d2h: 0.248 };
  const pinned = { h2d: 0.072, kernels: 0.027, d2h: 0.066 };
  const settings = { count: 301, slots: 6, workers: 1, firstFrame: 262 };
  const codec = { decode: 0.62, encode: 0.112 };
  return report({
    end_to_end: blockReport(
      { sync: { ...codec, ...pageable }, async: { ...codec, ...pinned }, multistream: { ...codec, ...pinned } },
      settings,
      'decode',
      'The decoder sets the pace: more decoder threads or a lighter codec would help; a faster GPU would not.',
    ),
    transport: blockReport(
      { sync: pageable, async: pinned, multistream: pinned },
      settings,
      'h2d',
      'Copies over PCIe set the pace: frames of fewer bytes (8 bits, 4:2:0) would help.',
    ),
  });
}

/** The textbook's workload, with a name that would run if it were taken for markup. */
export const HOSTILE_NAME = '</script><img src=x onerror=alert(1)>.mp4';
export function textbook() {
  const stages = { preprocess: 8, h2d: 3, kernels: 12, d2h: 3 };
  return report({
    input: HOSTILE_NAME,
    filters: [],
    slots: 4,
    end_to_end: blockReport(
      { sync: stages, async: stages, multistream: stages },
      { count: 301, slots: 4, workers: 1 },
      'kernels',
      'Kernels set the pace: a lighter chain or a faster GPU would help.',
    ),
  });
}

/** Two frames filtered at once, nothing copied. */
export function cpu() {
  const stages = { decode: 4.1, preprocess: 0.42, kernels: 9.2, encode: 1.3 };
  return report({
    input: 'holiday.mkv',
    device: 'CPU, 2 threads',
    backend: 'cpu',
    slots: 4,
    input_format: { width: 1280, height: 720, pixel_format: 'yuv420p' },
    output_format: { width: 640, height: 360, pixel_format: 'yuv420p' },
    end_to_end: blockReport(
      { sync: stages, async: stages, multistream: stages },
      { count: 301, slots: 4, workers: 2, firstFrame: 10_000 },
      'kernels',
      'Filters set the pace: more cores would help.',
      7.2,
    ),
  });
}

/** One mode, no timeline, no spread: the least that a report may hold. */
export function oneMode() {
  const block = blockReport(
    { async: { decode: 2, kernels: 1 } },
    { count: 301, slots: 4, workers: 1 },
    'decode',
    undefined,
  );
  block.modes.async.timeline = [];
  return { input: 'lavfi:testsrc2', backend: 'cpu', rounds: 1, frames_per_round: 300, end_to_end: block };
}
