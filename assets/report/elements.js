// Stages, numbers and elements: what all figures of the page share.

const STAGES = [
  { key: 'decode', label: 'decode' },
  { key: 'preprocess', label: 'preprocess' },
  { key: 'h2d', label: 'H2D' },
  { key: 'kernels', label: 'kernels' },
  { key: 'd2h', label: 'D2H' },
  { key: 'encode', label: 'encode' },
];
const stageLabel = (key) => STAGES.find((stage) => stage.key === key)?.label ?? key;
const stageMs = (mode, key) => mode.stages?.[`${key}_ms`] ?? 0;
const stageSum = (mode) => STAGES.reduce((sum, stage) => sum + stageMs(mode, stage.key), 0);
/** The stages that took time in any of the modes. */
const usedStages = (block) =>
  STAGES.filter((stage) => Object.values(block.modes).some((mode) => stageMs(mode, stage.key) > 0));

/** Text goes in as text nodes only: names in a report may hold any markup. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function svgElement(tag, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);

function fixed(value, decimals) {
  if (!isNumber(value)) return '–';
  return value.toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** As many decimals as give the smallest value three digits, at most three: a column of one precision. */
function decimalsFor(values) {
  const sizes = values.filter((value) => isNumber(value) && value > 0);
  if (sizes.length === 0) return 0;
  return Math.min(3, Math.max(0, 2 - Math.floor(Math.log10(Math.min(...sizes)))));
}

/** A time that stands alone: three digits. */
const milliseconds = (value) => `${fixed(value, decimalsFor([value]))} ms`;
const framesPerSecond = (value) => fixed(value, value < 100 ? 1 : 0);
const times = (value) => `${fixed(value, 2)}×`;
const percent = (value) => (isNumber(value) ? `${fixed(100 * value, 0)} %` : '–');

/** One of `steps` times a power of ten, at least `value`. */
function roundUp(value, steps = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]) {
  const power = 10 ** Math.floor(Math.log10(value));
  return steps.map((step) => step * power).find((step) => step >= value * 0.999999);
}

/** Round values from `begin` to `end`, `count` or fewer steps apart. */
function ticks(begin, end, count) {
  const step = roundUp((end - begin) / count, [1, 2, 5, 10]);
  const made = [];
  for (let i = Math.ceil(begin / step - 1e-9) + 0; i * step <= end + step * 1e-9; ++i) made.push(i * step);
  return { values: made, decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

function quantile(sorted, share) {
  if (sorted.length === 0) return NaN;
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

const swatch = (key) => element('span', { class: `swatch stage-${key}`, 'aria-hidden': 'true' });

function legend(stages) {
  const items = stages.map((stage) => element('li', {}, swatch(stage.key), stage.label));
  return element('ul', { class: 'legend', 'aria-label': 'Colours of the stages' }, ...items);
}

/** A heading with a sentence that says how to read what follows. */
function caption(level, title, text) {
  return element('figcaption', {}, element(level, {}, title), element('p', {}, text));
}
