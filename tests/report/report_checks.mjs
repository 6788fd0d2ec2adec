// What several checks of the page ask: bars and spans against the data.
import assert from 'node:assert/strict';
import { VARIANTS, boxes, openReport } from './browser.mjs';
import { cpu, fastGpu, textbook } from './reports.mjs';

export const STAGES = ['decode', 'preprocess', 'h2d', 'kernels', 'd2h', 'encode'];
export const [DESKTOP, DARK_DESKTOP, PHONE] = VARIANTS;
export const REPORTS = { fastGpu: fastGpu(), textbook: textbook(), cpu: cpu() };
/** Least width of a span, so that tiny ones are seen (page.css). */
const LEAST_SPAN_PX = 1.5;
export const near = (actual, expected, tolerance, what) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${what}: ${actual} instead of ${expected} (± ${tolerance})`);
export const plotOf = (page, mode, block = '#end-to-end') => page.locator(`${block} .plot[data-mode=${mode}]`);
export const rgb = (text) => text.match(/\d+/g).slice(0, 3).map(Number);

/** Opens, runs `check` and closes; nothing may have been said on the console or asked of the network. */
export async function withPage(report, variant, name, check) {
  const page = await openReport(report, variant, name);
  try {
    await check(page);
    assert.deepEqual(page.complaints, []);
  } finally {
    await page.context().close();
  }
}

/** Each stack's segments: one a stage, side by side, as long as the data on one scale, which is returned in px/ms. */
export async function checkBars(page, id, block) {
  const [chart] = await boxes(page, `#${id} .stack`);
  const segments = await boxes(page, `#${id} .segment`);
  const expected = Object.entries(block.modes).flatMap(([mode, { stages }]) =>
    STAGES.filter((stage) => stages[`${stage}_ms`] > 0).map((stage) => ({ mode, stage, ms: stages[`${stage}_ms`] })),
  );
  assert.deepEqual(
    segments.map(({ data }) => [data.mode, data.stage]),
    expected.map(({ mode, stage }) => [mode, stage]),
  );
  const longest = expected.reduce((a, b) => (b.ms > a.ms ? b : a));
  const scale = segments[expected.indexOf(longest)].width / longest.ms;
  let at = { mode: '', ms: 0 };
  expected.forEach(({ mode, stage, ms }, i) => {
    if (mode !== at.mode) at = { mode, ms: 0 };
    near(segments[i].width, ms * scale, 1, `width of ${mode}, ${stage}`);
    near(segments[i].left - chart.left, at.ms * scale, 1, `left of ${mode}, ${stage}`);
    at.ms += ms;
  });
  for (const bar of await boxes(page, `#${id} .frame-time`)) {
    near(bar.width, block.modes[bar.data.mode].frame_ms * scale, 1, `frame time of ${bar.data.mode}`);
  }
  for (const line of await boxes(page, `#${id} .bound`)) {
    near(line.left - chart.left, block.bounds[`${line.data.bound}_ms`] * scale, 1.5, `${line.data.bound} bound`);
  }
  return scale;
}

/** All spans of a timeline that lie in the view [begin, begin + span] ms are where the data say. */
export async function checkSpans(page, id, mode, timeline, begin, span) {
  const plot = plotOf(page, mode, `#${id}`);
  const [box] = await boxes(page, `#${id} .plot[data-mode=${mode}]`);
  const drawn = await boxes(plot, '.span');
  const expected = timeline.flatMap(({ frame, spans }) =>
    Object.entries(spans).map(([stage, times]) => [`${frame} ${stage}`, times]),
  );
  assert.equal(drawn.length, expected.length);
  const places = new Map(drawn.map((place) => [`${place.data.frame} ${place.data.stage}`, place]));
  let seen = 0;
  for (const [name, [from, to]] of expected) {
    if (from < begin || to > begin + span) continue;
    const place = places.get(name);
    near(place.left - box.left, ((from - begin) / span) * box.width, 0.6, `left of ${mode} ${name}`);
    near(place.width, Math.max(LEAST_SPAN_PX, ((to - from) / span) * box.width), 0.6, `width of ${mode} ${name}`);
    ++seen;
  }
  return { drawn, seen, box };
}

export const extent = ({ timeline }) =>
  Math.max(...timeline.flatMap(({ spans }) => Object.values(spans).map(([, end]) => end)));
export const blockExtent = (block) => Math.max(...Object.values(block.modes).map(extent));
