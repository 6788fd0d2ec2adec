// The timeline of one mode: lanes of spans over an axis in ms, a view that zooms and pans, a selected span.

const SMALLEST_VIEW_MS = 0.005;
/** About the width of a character of a tick's label. */
const TICK_DIGIT_PX = 7;

class Timeline {
  /** `group` holds the timelines that share one view. */
  constructor(name, mode, backend, group) {
    this.name = name;
    this.group = group;
    this.spans = spansOf(mode.timeline);
    this.frames = mode.timeline.length;
    this.laneNames = layOutLanes(this.spans, backend);
    this.extent = Math.max(...this.spans.map((span) => span.end), SMALLEST_VIEW_MS);
    this.view = { begin: 0, span: this.extent };
    this.selected = null;
    this.element = this.#build(mode);
    new TimelineInput(this);
    new ResizeObserver(() => this.render()).observe(this.plot);
  }

  #build(mode) {
    const digits = Math.max(...this.spans.map((span) => String(span.frame).length));
    const lanes = this.laneNames.length;
    this.axis = element('div', { class: 'time-axis', 'aria-hidden': 'true' });
    this.band = element('div', { class: 'band', hidden: '' });
    this.thumb = element('div', { class: 'thumb' });
    this.plot = element(
      'div',
      {
        class: 'plot',
        tabindex: '0',
        role: 'application',
        'aria-roledescription': 'timeline',
        'aria-label': this.#label(),
        'aria-describedby': this.group.hintId,
        'data-mode': this.name,
        'data-digits': digits,
      },
      this.axis,
      this.band,
      ...this.spans.map((span) => this.#spanElement(span)),
      this.#concurrencyPicture(),
    );
    const names = this.laneNames.map((lane, i) => element('li', { style: `--lane:${i}` }, lane));
    names.push(
      element(
        'li',
        { class: 'at-once-name', style: `--lane:${lanes}` },
        'at once',
        element('small', {}, `0–${this.most}`),
      ),
    );
    return element(
      'section',
      { class: 'timeline', style: `--lanes:${lanes}`, 'data-mode': this.name },
      element(
        'header',
        {},
        element('h4', {}, this.name),
        element(
          'p',
          {},
          `${this.frames} frames, ${milliseconds(this.extent)} from first to last`,
          isNumber(mode.overlap) ? `; ${fixed(mode.overlap, 2)} stages at once on average` : '',
        ),
        this.#buttons(),
      ),
      element(
        'div',
        { class: 'timeline-body' },
        element('ul', { class: 'lane-names', 'aria-hidden': 'true' }, ...names),
        this.plot,
        element('div', { class: 'scroll-track', 'aria-hidden': 'true' }, this.thumb),
      ),
    );
  }

  #label() {
    return (
      `${this.name}: ${this.frames} frames in ${milliseconds(this.extent)}, lanes ${this.laneNames.join(', ')}; ` +
      `at most ${Math.max(...concurrency(this.spans).map((step) => step.count))} stages at once`
    );
  }

  #spanElement(span) {
    span.element = element(
      'div',
      {
        class: `span stage-${span.stage}`,
        style: `--lane:${span.lane}`,
        'data-frame': span.frame,
        'data-stage': span.stage,
        'data-begin-ms': span.begin,
        'data-end-ms': span.end,
      },
      element('b', {}, String(span.frame)),
    );
    return span.element;
  }

  #concurrencyPicture() {
    const steps = concurrency(this.spans);
    this.most = Math.max(...steps.map((step) => step.count));
    this.atOnce = svgElement(
      'svg',
      { class: 'at-once', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
      svgElement('path', { d: concurrencyPath(steps, this.most), 'vector-effect': 'non-scaling-stroke' }),
    );
    return this.atOnce;
  }

  #buttons() {
    const button = (text, label, action) => {
      const made = element('button', { type: 'button', 'aria-label': `${label}, ${this.name}`, title: label }, text);
      made.addEventListener('click', action);
      return made;
    };
    return element(
      'div',
      { class: 'zoom', role: 'group', 'aria-label': `Zoom, ${this.name}` },
      button('−', 'Zoom out', () => this.zoom(0.5)),
      button('+', 'Zoom in', () => this.zoom(2)),
      button('Fit', 'Show all frames', () => this.fit()),
    );
  }

  /** All that can be seen: of all modes where they share a scale. */
  get full() {
    return this.group.linked ? this.group.extent : this.extent;
  }

  /** Moves the view, and those that share it. True if that changed anything. */
  setView(begin, span) {
    const full = this.full;
    const width = Math.min(full, Math.max(span, SMALLEST_VIEW_MS));
    const view = { begin: Math.max(0, Math.min(begin, full - width)), span: width };
    if (view.begin === this.view.begin && view.span === this.view.span) return false;
    for (const timeline of this.group.linked ? this.group.timelines : [this]) {
      timeline.view = { ...view };
      timeline.render();
    }
    return true;
  }

  /** `factor` over 1 shows less time; the time at `center` (the selected span, or the middle) stays where it is. */
  zoom(factor, center = this.#center()) {
    const span = Math.min(this.full, Math.max(this.view.span / factor, SMALLEST_VIEW_MS));
    const share = (center - this.view.begin) / this.view.span;
    return this.setView(center - share * span, span);
  }

  #center() {
    const middle = this.view.begin + this.view.span / 2;
    if (!this.selected) return middle;
    const of = (this.selected.begin + this.selected.end) / 2;
    return of >= this.view.begin && of <= this.view.begin + this.view.span ? of : middle;
  }

  pan(ms) {
    return this.setView(this.view.begin + ms, this.view.span);
  }
  fit() {
    return this.setView(0, this.full);
  }

  /** The whole way of the selected frame, with its neighbours at both sides. */
  zoomToFrame() {
    if (!this.selected) return;
    const { begin, end } = this.#way(this.selected.frame);
    this.setView(begin - (end - begin) / 2, 2 * (end - begin));
  }

  #way(frame) {
    const spans = this.spans.filter((span) => span.frame === frame);
    return { begin: Math.min(...spans.map((span) => span.begin)), end: Math.max(...spans.map((span) => span.end)) };
  }

  share(ms) {
    return (ms - this.view.begin) / this.view.span;
  }

  render() {
    this.#renderAxis();
    for (const span of this.spans) this.#place(span.element, span.begin, span.end);
    if (this.selected) {
      const { begin, end } = this.#way(this.selected.frame);
      this.#place(this.band, begin, end);
    }
    this.atOnce.setAttribute('viewBox', `${this.view.begin} 0 ${this.view.span} ${this.most}`);
    this.thumb.style.left = `${(100 * this.view.begin) / this.full}%`;
    this.thumb.style.width = `${(100 * this.view.span) / this.full}%`;
    this.thumb.parentElement.classList.toggle('whole', this.view.span >= this.full);
  }

  /** What lies outside the view is cut a little outside it, so that labels stay in the visible part. */
  #place(box, begin, end) {
    const left = Math.max(-0.01, this.share(begin));
    const right = Math.min(1.01, this.share(end));
    box.classList.toggle('outside', right < 0 || left > 1);
    box.style.left = `${100 * left}%`;
    box.style.width = `${100 * Math.max(0, right - left)}%`;
  }

  #renderAxis() {
    const width = this.plot.clientWidth || 800;
    const { values, decimals } = ticks(
      this.view.begin,
      this.view.begin + this.view.span,
      Math.max(2, Math.floor(width / 80)),
    );
    this.axis.replaceChildren(
      ...values.map((ms) => {
        const share = this.share(ms);
        const text = `${fixed(ms, decimals)}${ms === values.at(-1) ? ' ms' : ''}`;
        const fits = (1 - share) * width > TICK_DIGIT_PX * (text.length + 1);
        return element(
          'div',
          { class: fits ? 'tick' : 'tick before', style: `left:${100 * share}%` },
          element('span', {}, text),
        );
      }),
    );
  }

  /** Highlights the span's frame and tells about the span; null: nothing. */
  select(span) {
    if (this.selected === span) return;
    this.selected?.element.classList.remove('current');
    this.selected = span;
    this.plot.classList.toggle('has-selection', span !== null);
    this.band.hidden = span === null;
    for (const other of this.spans) other.element.classList.toggle('of-frame', other.frame === span?.frame);
    if (span === null) {
      tooltip.hide();
      return;
    }
    span.element.classList.add('current');
    this.render();
    this.describe();
  }

  describe() {
    const { frame, slot, stage, begin, end } = this.selected;
    const others = meanwhile(this.selected, this.spans);
    const shown = others
      .slice(0, 6)
      .map((other) =>
        element('span', { class: 'other' }, swatch(other.stage), `${stageLabel(other.stage)} ${other.frame} `),
      );
    if (others.length > 6) shown.push(`and ${others.length - 6} more`);
    const way = this.#way(frame);
    tooltip.show(
      this.selected.element.getBoundingClientRect(),
      this.plot.getBoundingClientRect(),
      tooltipTitle(stage, `frame ${frame}, ${stageLabel(stage)}: ${fixed(end - begin, 3)} ms`),
      tooltipLine(`begins at ${fixed(begin, 3)} ms, slot ${slot}; ${fixed(way.end - way.begin, 3)} ms in flight`),
      tooltipLine('meanwhile: ', ...(others.length > 0 ? shown : ['none of the other frames shown'])),
    );
  }

  /** The span under a point of the viewport, or the nearest of its lane within `reach_px`. */
  spanAt(x, y, reachPx) {
    const box = this.plot.getBoundingClientRect();
    const lane = this.spans.find((span) => {
      const rect = span.element.getBoundingClientRect();
      return rect.height > 0 && y >= rect.top - 2 && y <= rect.bottom + 2;
    })?.lane;
    const ms = this.view.begin + ((x - box.left) / box.width) * this.view.span;
    const distance = (span) => Math.max(0, span.begin - ms, ms - span.end);
    const nearest = this.spans
      .filter((span) => span.lane === lane)
      .reduce((best, span) => (best === null || distance(span) < distance(best) ? span : best), null);
    return nearest && (distance(nearest) / this.view.span) * box.width <= reachPx ? nearest : null;
  }
}
