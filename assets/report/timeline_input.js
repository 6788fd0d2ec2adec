// How people move a timeline: mouse, wheel, touch and keys.

const REACH_PX = { mouse: 5, pen: 8, touch: 14 };

class TimelineInput {
  constructor(timeline) {
    this.timeline = timeline;
    this.pointers = new Map();
    this.moved = false;
    this.pinned = false;
    const on = (type, handler, options) => timeline.plot.addEventListener(type, handler, options);
    on('pointerdown', (event) => this.#down(event));
    on('pointermove', (event) => this.#move(event));
    on('pointerup', (event) => this.#up(event));
    on('pointercancel', (event) => this.pointers.delete(event.pointerId));
    on('pointerleave', () => this.#leave());
    on('dblclick', () => timeline.zoomToFrame());
    on('wheel', (event) => this.#wheel(event), { passive: false });
    on('keydown', (event) => this.#key(event));
    on('blur', () => this.#select(null, false));
  }

  #select(span, pinned) {
    this.pinned = pinned && span !== null;
    this.timeline.select(span);
  }

  #at(event) {
    return this.timeline.spanAt(event.clientX, event.clientY, REACH_PX[event.pointerType] ?? 5);
  }

  #down(event) {
    this.pointers.set(event.pointerId, event);
    this.moved = this.pointers.size > 1;
    this.start = { x: event.clientX, y: event.clientY };
    // Touch is captured by the browser's own rules; capturing a mouse keeps a drag alive outside the plot.
    if (event.pointerType === 'mouse') this.timeline.plot.setPointerCapture(event.pointerId);
  }

  #move(event) {
    const last = this.pointers.get(event.pointerId);
    if (!last) {
      if (event.pointerType === 'mouse' && !this.pinned) this.#select(this.#at(event), false);
      return;
    }
    if (Math.hypot(event.clientX - this.start.x, event.clientY - this.start.y) > 4) this.moved = true;
    if (!this.moved) return;
    if (this.pointers.size > 1) this.#pinch(event, last);
    else this.timeline.pan(this.#ms(last.clientX - event.clientX));
    this.pointers.set(event.pointerId, event);
    tooltip.hide();
  }

  /** The time under each finger stays under it, as far as two fingers that moved can tell. */
  #pinch(event, last) {
    const other = [...this.pointers.values()].find((pointer) => pointer.pointerId !== event.pointerId);
    const before = Math.max(8, Math.abs(last.clientX - other.clientX));
    const now = Math.max(8, Math.abs(event.clientX - other.clientX));
    this.timeline.zoom(now / before, this.#time(other.clientX));
  }

  #ms(px) {
    return (px / this.timeline.plot.clientWidth) * this.timeline.view.span;
  }
  #time(x) {
    return this.timeline.view.begin + this.#ms(x - this.timeline.plot.getBoundingClientRect().left);
  }

  #up(event) {
    this.pointers.delete(event.pointerId);
    if (this.moved) return;
    const span = this.#at(event);
    const again = this.pinned && span === this.timeline.selected;
    this.#select(again ? null : span, true);
    if (!again && span) this.timeline.describe();
  }

  #leave() {
    if (!this.pinned) this.#select(null, false);
  }

  /** A wheel scrolls the page, unless the timeline was chosen (it has the focus) or a pinch or Ctrl asks for it. */
  #wheel(event) {
    const { timeline } = this;
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    let changed = false;
    if (event.ctrlKey || event.metaKey) {
      changed = timeline.zoom(Math.exp(-event.deltaY * unit * 0.005), this.#time(event.clientX));
      event.preventDefault();
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      changed = timeline.pan(this.#ms(sideways * unit));
    } else if (document.activeElement === timeline.plot) {
      changed = timeline.zoom(Math.exp(-event.deltaY * unit * 0.002), this.#time(event.clientX));
    }
    if (!changed) return;
    event.preventDefault();
    if (timeline.selected) timeline.describe();
  }

  #key(event) {
    const { timeline } = this;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = {
      '+': () => timeline.zoom(2),
      '=': () => timeline.zoom(2),
      '-': () => timeline.zoom(0.5),
      0: () => timeline.fit(),
      PageUp: () => timeline.pan(-0.8 * timeline.view.span),
      PageDown: () => timeline.pan(0.8 * timeline.view.span),
      ArrowLeft: () => this.#stepFrame(-1),
      ArrowRight: () => this.#stepFrame(1),
      ArrowUp: () => this.#stepStage(-1),
      ArrowDown: () => this.#stepStage(1),
      Home: () => this.#stepFrame(-Infinity),
      End: () => this.#stepFrame(Infinity),
      Enter: () => timeline.zoomToFrame(),
      Escape: () => this.#select(null, false),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
    if (timeline.selected) timeline.describe();
  }

  /** The same stage of an earlier or later frame; at first a frame in view. */
  #stepFrame(by) {
    const { selected, spans, view } = this.timeline;
    const stage = selected?.stage ?? spans[0].stage;
    const row = spans.filter((span) => span.stage === stage).sort((a, b) => a.frame - b.frame);
    const now = selected ? row.indexOf(selected) : row.findIndex((span) => span.end > view.begin) - Math.sign(by);
    this.#choose(row[Math.max(0, Math.min(row.length - 1, now + by))]);
  }

  #stepStage(by) {
    const { selected, spans } = this.timeline;
    if (!selected) return this.#stepFrame(1);
    const way = spans.filter((span) => span.frame === selected.frame).sort((a, b) => a.begin - b.begin);
    return this.#choose(way[Math.max(0, Math.min(way.length - 1, way.indexOf(selected) + by))]);
  }

  /** Selects, and moves the view so that the span lies in it. */
  #choose(span) {
    const { timeline } = this;
    const { begin, span: width } = timeline.view;
    this.#select(span, true);
    if (span.begin < begin) timeline.setView(span.begin - 0.1 * width, width);
    else if (span.end > begin + width) timeline.setView(span.end - 0.9 * width, width);
  }
}
