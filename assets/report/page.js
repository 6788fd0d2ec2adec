// Puts the page together from the report.

const BLOCKS = [
  {
    key: 'end_to_end',
    id: 'end-to-end',
    title: 'End to end',
    text: 'From the demuxer through decoder, device and encoder.',
  },
  {
    key: 'transport',
    id: 'transport',
    title: 'Transport and filters',
    text: 'The same frames, already decoded and kept in the ring: copies and filters alone.',
  },
];

function blockSection(report, block, { id, title, text }) {
  return element(
    'section',
    { class: 'block', id, 'aria-labelledby': `${id}-title` },
    element(
      'header',
      {},
      element('h2', { id: `${id}-title` }, title),
      element('p', {}, [text, roundsText(report, block)].filter(Boolean).join(' ')),
    ),
    element(
      'p',
      { class: 'verdict' },
      element(
        'span',
        { class: 'slowest' },
        'slowest stage ',
        swatch(block.bound_by),
        element('strong', {}, stageLabel(block.bound_by)),
      ),
      block.advice ? element('span', {}, block.advice) : null,
    ),
    element(
      'div',
      { class: 'columns' },
      modeTable(report, block, title),
      element('div', {}, stageBars(block), frameTimes(block)),
    ),
    timelines(block, report.backend, id),
  );
}

/** A block may have rounds of its own length, and use CUDA graphs on its own. */
function roundsText(report, block) {
  const rounds = block.rounds ?? report.rounds;
  const frames = block.frames_per_round ?? report.frames_per_round;
  if (!isNumber(rounds) || !isNumber(frames)) return null;
  const how =
    report.backend === 'cpu' ? '' : `, ${(block.cuda_graphs ?? report.cuda_graphs) ? 'with' : 'without'} CUDA graphs`;
  const turns = rounds === 1 ? 'One round' : `${rounds} rounds, modes in turn`;
  return `${turns}, ${fixed(frames, 0)} frames a mode${rounds === 1 ? '' : ' and round'}${how}.`;
}

function setUpTheme() {
  const root = document.documentElement;
  const button = document.getElementById('theme-toggle');
  const name = () =>
    button.setAttribute('aria-label', `Switch to the ${root.dataset.theme === 'dark' ? 'light' : 'dark'} theme`);
  const store = (use) => {
    try {
      return use(localStorage);
    } catch {
      return null; /* pages of file:// may have no storage */
    }
  };
  button.addEventListener('click', () => {
    root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
    store((storage) => storage.setItem('framelane-theme', root.dataset.theme));
    name();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (event) => {
    if (store((storage) => storage.getItem('framelane-theme'))) return;
    root.dataset.theme = event.matches ? 'dark' : 'light';
    name();
  });
  name();
}

function drawPage(report) {
  const blocks = BLOCKS.filter(({ key }) => Object.keys(report[key]?.modes ?? {}).length > 0);
  const page = document.getElementById('report');
  if (blocks.length === 0) {
    page.replaceChildren(element('p', {}, 'This report holds no measurement.'));
    return;
  }
  const first = report[blocks[0].key];
  document.title = `${report.input}: ${headline(first)} – framelane`;
  page.replaceChildren(
    summary(report, first),
    ...blocks.map((block) => blockSection(report, report[block.key], block)),
  );
  document.getElementById('parts').append(...blocks.map(({ id, title }) => element('a', { href: `#${id}` }, title)));
  document.getElementById('versions').append(...versions(report));
}

setUpTheme();
drawPage(JSON.parse(document.getElementById('report-data').textContent));
