// What the page says: headline, table, frame times, and what it makes of odd reports.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOSTILE_NAME, oneMode } from './reports.mjs';
import { DESKTOP, PHONE, REPORTS, near, withPage } from './report_checks.mjs';

export function checkText() {
  test('headline, facts and verdict', () =>
    withPage(REPORTS.textbook, DESKTOP, 'text', async (page) => {
      const { multistream, sync } = REPORTS.textbook.end_to_end.modes;
      assert.equal(
        await page.locator('h1').innerText(),
        `multistream is ${(sync.frame_ms / multistream.frame_ms).toFixed(2)}× as fast as sync`,
      );
      assert.match(
        await page.locator('.lede').innerText(),
        /the slowest stage, kernels, would set the pace: 12\.0 ms\./,
      );
      assert.match(await page.locator('.facts').innerText(), /NVIDIA H200 \(cuda:0\)/);
      assert.match(
        await page.locator('.block > header').innerText(),
        /5 rounds, modes in turn, 300 frames a mode and round, without CUDA graphs\./,
      );
      assert.match(await page.locator('.verdict').innerText(), /slowest stage\s+kernels\s+Kernels set the pace/);
    }));

  test('modes that are equally fast share the headline', () =>
    withPage(REPORTS.fastGpu, DESKTOP, 'tie', async (page) => {
      assert.match(await page.locator('h1').innerText(), /^async and multistream are 2\.\d\d× as fast as sync$/);
    }));

  test('a name with markup is shown as it stands and does not run', () =>
    withPage(REPORTS.textbook, DESKTOP, 'hostile', async (page) => {
      assert.ok((await page.locator('.facts').innerText()).replace(/\n/g, ' ').includes(HOSTILE_NAME));
      assert.equal(await page.locator('img').count(), 0);
      assert.ok((await page.title()).startsWith(HOSTILE_NAME));
    }));

  test('the table has a header for each row and column, and the data in its cells', () =>
    withPage(REPORTS.textbook, DESKTOP, 'table', async (page) => {
      const table = page.getByRole('table', { name: /End to end/ });
      assert.deepEqual(await table.getByRole('columnheader').allInnerTexts(), ['sync', 'async', 'multistream']);
      const cells = async (row) => table.getByRole('row', { name: row }).getByRole('cell').allInnerTexts();
      assert.deepEqual((await cells(/^preprocess/)).map(Number), [8, 8, 8]);
      assert.deepEqual((await cells(/^H2D 3/)).map(Number), [3, 3, 3]);
      assert.deepEqual((await cells(/^kernels/)).map(Number), [12, 12, 12]);
      assert.deepEqual((await cells(/^sum of the stages/)).map(Number), [26, 26, 26]);
      assert.deepEqual(await cells(/^encode/), ['–', '–', '–']);
      const frameTimes = Object.values(REPORTS.textbook.end_to_end.modes).map((mode) => mode.frame_ms);
      (await cells(/^frame time/)).forEach((text, i) => near(Number(text), frameTimes[i], 0.05, 'frame time'));
      (await cells(/^ideal/)).forEach((text, i) =>
        near(parseFloat(text), frameTimes[i] / 12, 0.006, 'ratio to the ideal'),
      );
    }));

  test('frame times: a step for each frame, read by keys', () =>
    withPage(REPORTS.textbook, DESKTOP, 'frame-times', async (page) => {
      const data = REPORTS.textbook.end_to_end.modes.multistream.frame_times_ms;
      const strip = page.getByRole('slider', { name: 'Frame times, multistream' });
      const path = await strip.locator('path').getAttribute('d');
      const heights = [...path.matchAll(/V([\d.]+)H/g)].map((match) => 1 - Number(match[1]));
      assert.equal(heights.length, data.length);
      const top = data[0] / heights[0];
      heights.forEach((height, i) => near(height, Math.min(1, data[i] / top), 1e-3, `frame ${i + 1}`));
      await strip.focus();
      await page.keyboard.press('ArrowRight');
      assert.equal(await strip.getAttribute('aria-valuetext'), `frame 2: ${data[1].toFixed(1)} ms`);
      await page.keyboard.press('End');
      assert.equal(await strip.getAttribute('aria-valuenow'), String(data.length));
      assert.match(await page.getByRole('status').innerText(), new RegExp(`frame ${data.length} of ${data.length}`));
    }));

  test('a report of one mode without timeline is a page too', () =>
    withPage(oneMode(), PHONE, 'one-mode', async (page) => {
      assert.match(await page.locator('h1').innerText(), /^async: \d+ fps$/);
      assert.equal(await page.locator('.timelines').count(), 0);
      assert.equal(await page.locator('.segment').count(), 2);
    }));

  test('a report of nothing says so', () =>
    withPage({ input: 'x' }, PHONE, 'empty', async (page) => {
      assert.equal(await page.locator('main').innerText(), 'This report holds no measurement.');
    }));
}
