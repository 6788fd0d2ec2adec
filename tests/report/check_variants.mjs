// Desktop and phone, light and dark: everything is there, as long as the data, legible.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VARIANTS, boxes, fileOf, pixels, textContrasts } from './browser.mjs';
import { contrast, leastDistance } from './color_vision.mjs';
import { REPORTS, STAGES, blockExtent, checkBars, checkSpans, rgb, withPage } from './report_checks.mjs';

export function checkVariants() {
  for (const variant of VARIANTS) {
    for (const [name, report] of Object.entries(REPORTS)) {
      test(`${variant.name}, ${name}: bars and spans are as long as the data, nothing is cut off`, async () => {
        await withPage(report, variant, name, async (page) => {
          const blocks = { 'end-to-end': report.end_to_end, transport: report.transport };
          for (const [id, block] of Object.entries(blocks)) {
            if (!block) continue;
            await checkBars(page, id, block);
            for (const [mode, { timeline }] of Object.entries(block.modes)) {
              const { seen, drawn } = await checkSpans(page, id, mode, timeline, 0, blockExtent(block));
              assert.equal(seen, drawn.length);
            }
          }
          assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), variant.viewport.width);
          const cut = await page
            .locator('figure, th, td, .row-head, dd')
            .evaluateAll((found) =>
              found
                .filter((element) => element.scrollWidth > element.clientWidth + 1)
                .map((element) => element.innerText),
            );
          assert.deepEqual(cut, []);
          await page.screenshot({ path: fileOf(`${name}-${variant.name}.png`), fullPage: true });
        });
      });
    }

    test(`${variant.name}: every text has a contrast of at least 4.5 : 1`, async () => {
      await withPage(REPORTS.textbook, variant, 'contrast', async (page) => {
        const texts = await page.evaluate(textContrasts);
        assert.ok(texts.length > 150, `only ${texts.length} texts`);
        assert.deepEqual(
          texts.filter(({ ratio }) => !(ratio >= 4.5)),
          [],
        );
      });
    });

    test(`${variant.name}: a stage has one colour everywhere, told apart by any vision, also seen`, async () => {
      const report = structuredClone(REPORTS.fastGpu);
      for (const { stages } of Object.values(report.end_to_end.modes)) stages.preprocess_ms = 0.2;
      await withPage(report, variant, 'colours', async (page) => {
        const used = await page
          .locator('.swatch, .segment, .cell-bar, .span')
          .evaluateAll((found) =>
            found.map((element) => [
              [...element.classList].find((name) => name.startsWith('stage-')),
              getComputedStyle(element).backgroundColor,
            ]),
          );
        const colors = new Map(used);
        for (const [stage, color] of used) assert.equal(color, colors.get(stage), stage);
        const list = STAGES.map((stage) => rgb(colors.get(`stage-${stage}`)));
        assert.ok(leastDistance(list) >= 10, `two stages look alike: ${leastDistance(list)}`);
        const surface = rgb(
          await page
            .locator('.cost')
            .first()
            .evaluate((figure) => getComputedStyle(figure).backgroundColor),
        );
        for (const color of list) assert.ok(contrast(color, surface) >= 3, `${color} on ${surface}`);

        await page
          .locator('.cost')
          .first()
          .evaluate((figure) => figure.scrollIntoView({ block: 'center' }));
        const segments = (await boxes(page, '#end-to-end .segment')).filter(({ data }) => data.mode === 'sync');
        // Near the lower edge, where no label is.
        const seen = await pixels(
          page,
          segments.map(({ left, width, bottom }) => ({ left: left + width / 2, top: bottom - 3 })),
        );
        segments.forEach(({ data }, i) =>
          assert.deepEqual(seen[i], rgb(colors.get(`stage-${data.stage}`)), data.stage),
        );
      });
    });
  }
}
