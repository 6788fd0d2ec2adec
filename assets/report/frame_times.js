// The time between frames, frame by frame, of each mode's last round.

/** A step for each frame, as an area above 0, in a box of one unit a frame and 1 in height. */
function stepArea(frameTimes, top) {
  let path = 'M0 1';
  frameTimes.forEach((ms, i) => {
    const y = (1 - Math.min(ms / top, 1)).toFixed(4);
    path += `V${y}H${i + 1}`;
  });
  return `${path}V1Z`;
}

class FrameTimePlot {
  constructor(name, mode, top, ideal) {
    this.name = name;
    this.frameTimes = (mode.frame_times_ms ?? []).map((ms) => (isNumber(ms) ? ms : 0));
    this.cursor = element('div', { class: 'cursor', hidden: '' });
    this.plot = element(
      'div',
      {
        class: 'strip',
        tabindex: '0',
        role: 'slider',
        'aria-label': `Frame times, ${name}`,
        'aria-valuemin': '1',
        'aria-valuemax': String(this.frameTimes.length),
        'aria-valuenow': '1',
        'data-mode': name,
      },
      this.#picture(top),
      this.cursor,
    );
    if (ideal > 0 && ideal < top)
      this.plot.append(element('div', { class: 'ideal-line', style: `bottom:${(100 * ideal) / top}%` }));
    this.#say(0);
    this.#listen();
  }

  #picture(top) {
    const width = Math.max(this.frameTimes.length, 1);
    const path = svgElement('path', { d: stepArea(this.frameTimes, top), 'vector-effect': 'non-scaling-stroke' });
    return svgElement('svg', { viewBox: `0 0 ${width} 1`, preserveAspectRatio: 'none', 'aria-hidden': 'true' }, path);
  }

  #listen() {
    const at = (event) => {
      const box = this.plot.getBoundingClientRect();
      return Math.floor(((event.clientX - box.left) / box.width) * this.frameTimes.length);
    };
    this.plot.addEventListener('pointermove', (event) => this.select(at(event)));
    this.plot.addEventListener('pointerdown', (event) => this.select(at(event)));
    this.plot.addEventListener('pointerleave', () => this.clear());
    this.plot.addEventListener('blur', () => this.clear());
    this.plot.addEventListener('keydown', (event) => this.#key(event));
  }

  #key(event) {
    const now = Number(this.plot.getAttribute('aria-valuenow')) - 1;
    const step = event.shiftKey ? 10 : 1;
    const targets = {
      ArrowRight: now + step,
      ArrowUp: now + step,
      ArrowLeft: now - step,
      ArrowDown: now - step,
      PageUp: now + 10,
      PageDown: now - 10,
      Home: 0,
      End: this.frameTimes.length - 1,
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    this.select(targets[event.key]);
  }

  #say(index) {
    this.plot.setAttribute('aria-valuenow', String(index + 1));
    this.plot.setAttribute('aria-valuetext', `frame ${index + 1}: ${milliseconds(this.frameTimes[index])}`);
  }

  select(wanted) {
    if (this.frameTimes.length === 0) return;
    const index = Math.max(0, Math.min(this.frameTimes.length - 1, wanted));
    this.#say(index);
    this.cursor.hidden = false;
    this.cursor.style.left = `${(100 * index) / this.frameTimes.length}%`;
    this.cursor.style.width = `${100 / this.frameTimes.length}%`;
    tooltip.show(
      this.cursor.getBoundingClientRect(),
      this.plot.getBoundingClientRect(),
      tooltipTitle(null, milliseconds(this.frameTimes[index])),
      tooltipLine(`${this.name}, frame ${index + 1} of ${this.frameTimes.length}`),
    );
  }

  clear() {
    this.cursor.hidden = true;
    tooltip.hide();
  }
}

/** The scale's top: above what 99 of 100 frames take, so that one stall does not flatten all others. */
function frameTimeTop(modes) {
  const p99 = modes.map(([, mode]) =>
    quantile(
      [...(mode.frame_times_ms ?? [])].sort((a, b) => a - b),
      0.99,
    ),
  );
  return roundUp(1.05 * Math.max(...p99.filter(isNumber), 1e-3));
}

function frameTimeRow(name, mode, top, ideal) {
  const sorted = (mode.frame_times_ms ?? []).filter(isNumber).sort((a, b) => a - b);
  const beyond = sorted.filter((ms) => ms > top).length;
  const figures = [
    ['median', quantile(sorted, 0.5)],
    ['p99', quantile(sorted, 0.99)],
    ['max', sorted.at(-1)],
  ];
  const decimals = decimalsFor(figures.map(([, ms]) => ms));
  return element(
    'div',
    { class: 'strip-row' },
    element(
      'p',
      { class: 'row-head' },
      element('strong', {}, name),
      element('span', {}, `${figures.map(([label, ms]) => `${label} ${fixed(ms, decimals)}`).join(', ')} ms`),
      beyond > 0 ? element('span', {}, `${beyond} off the scale`) : null,
    ),
    new FrameTimePlot(name, mode, top, ideal).plot,
  );
}

function frameTimes(block) {
  const modes = Object.entries(block.modes);
  const top = frameTimeTop(modes);
  const ideal = block.bounds?.ideal_ms ?? 0;
  return element(
    'figure',
    { class: 'frame-times' },
    caption(
      'h3',
      'Frame times',
      `Each frame of the last round, from 0 to ${milliseconds(top)}. Dashed: the ideal bound.`,
    ),
    ...modes.map(([name, mode]) => frameTimeRow(name, mode, top, ideal)),
  );
}
