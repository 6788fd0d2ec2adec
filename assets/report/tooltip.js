// The one tooltip of the page, which screen readers hear as a status.

const tooltip = {
  box: document.getElementById('tooltip'),

  /** Beside `anchor`, a rectangle of the viewport, and outside `figure`, so that it hides nothing of it: above where
   *  there is room, else below. */
  show(anchor, figure, ...children) {
    const { box } = this;
    box.replaceChildren(...children);
    box.hidden = false;
    const margin = 8;
    const center = (Math.max(anchor.left, 0) + Math.min(anchor.right, document.documentElement.clientWidth)) / 2;
    const rightmost = document.documentElement.clientWidth - box.offsetWidth - margin;
    const left = Math.max(margin, Math.min(center - box.offsetWidth / 2, rightmost));
    const above = figure.top - box.offsetHeight - margin;
    box.style.left = `${left + scrollX}px`;
    box.style.top = `${(above >= margin ? above : figure.bottom + margin) + scrollY}px`;
  },

  hide() {
    this.box.hidden = true;
  },
};

function tooltipTitle(key, ...text) {
  return element('p', { class: 'tooltip-title' }, key ? swatch(key) : null, ...text);
}
const tooltipLine = (...text) => element('p', {}, ...text);
