// The timelines: lanes, scales, and how mouse, wheel, touch and keys move them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boxes } from './browser.mjs';
import { DESKTOP, PHONE, REPORTS, blockExtent, checkSpans, extent, near, plotOf, withPage } from './report_checks.mjs';

export function checkTimelines() {
  test('share one scale, or fill their width each', () =>
    withPage(REPORTS.textbook, DESKTOP, 'scales', async (page) => {
      const { modes } = REPORTS.textbook.end_to_end;
      await page.getByLabel('One time scale for all modes').uncheck();
      for (const [mode, figures] of Object.entries(modes)) {
        await checkSpans(page, 'end-to-end', mode, figures.timeline, 0, extent(figures));
      }
    }));

  test('spans of one lane never lie on each other, also where frames are filtered at once', () =>
    withPage(REPORTS.cpu, DESKTOP, 'lanes', async (page) => {
      const drawn = await boxes(plotOf(page, 'multistream'), '.span');
      for (const top of new Set(drawn.map((span) => span.top))) {
        const lane = drawn.filter((span) => span.top === top).sort((a, b) => a.left - b.left);
        lane.slice(1).forEach((span, i) => {
          assert.ok(
            Number(span.data.beginMs) >= Number(lane[i].data.endMs) - 0.001,
            `${span.data.frame} on ${lane[i].data.frame}`,
          );
        });
      }
      const kernelLanes = new Set(drawn.filter(({ data }) => data.stage === 'kernels').map(({ top }) => top));
      assert.equal(kernelLanes.size, 2);
      assert.deepEqual(await page.locator('.timeline[data-mode=multistream] .lane-names li').allInnerTexts(), [
        'decoder',
        'filter 1',
        'filter 2',
        'encoder',
        'at once\n0–4',
      ]);
    }));

  test('sync has one stage at a time, multistream several', () =>
    withPage(REPORTS.textbook, DESKTOP, 'at-once', async (page) => {
      const most = async (mode) => (await plotOf(page, mode).getAttribute('aria-label')).match(/at most (\d)/)[1];
      assert.deepEqual([await most('sync'), await most('async'), await most('multistream')], ['1', '2', '3']);
    }));

  test('keys zoom, pan and walk through frames and stages', () =>
    withPage(REPORTS.textbook, DESKTOP, 'keys', async (page) => {
      const { modes } = REPORTS.textbook.end_to_end;
      const full = blockExtent(REPORTS.textbook.end_to_end);
      await plotOf(page, 'multistream').focus();
      await page.keyboard.press('+');
      await page.keyboard.press('+');
      await checkSpans(page, 'end-to-end', 'multistream', modes.multistream.timeline, (3 / 8) * full, full / 4);
      await page.keyboard.press('PageUp');
      const { seen } = await checkSpans(
        page,
        'end-to-end',
        'sync',
        modes.sync.timeline,
        (3 / 8 - 0.2) * full,
        full / 4,
      );
      assert.ok(seen > 20, `${seen} spans of sync in view`);
      await page.keyboard.press('0');
      await checkSpans(page, 'end-to-end', 'multistream', modes.multistream.timeline, 0, full);
      await page.keyboard.press('Home');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowDown');
      const second = modes.multistream.timeline[1];
      const [begin, end] = second.spans.h2d;
      const said = await page.getByRole('status').innerText();
      assert.ok(said.startsWith(`frame ${second.frame}, H2D: ${(end - begin).toFixed(3)} ms`), said);
      assert.ok(said.includes(`begins at ${begin.toFixed(3)} ms, slot ${second.slot}`), said);
      await page.keyboard.press('Enter');
      const way = [second.spans.preprocess[0], second.spans.d2h[1]];
      const width = 2 * (way[1] - way[0]);
      await checkSpans(
        page,
        'end-to-end',
        'multistream',
        modes.multistream.timeline,
        Math.max(0, way[0] - width / 4),
        width,
      );
      await page.keyboard.press('Escape');
      assert.equal(await page.getByRole('status').isVisible(), false);
    }));

  test('pointing at a span tells about it and shows the whole way of its frame', () =>
    withPage(REPORTS.fastGpu, DESKTOP, 'hover', async (page) => {
      const frame = REPORTS.fastGpu.end_to_end.modes.multistream.timeline[10];
      const plot = plotOf(page, 'multistream');
      const span = plot.locator(`.span[data-frame="${frame.frame}"][data-stage=kernels]`);
      await span.scrollIntoViewIfNeeded();
      const [box] = await boxes(plot, `.span[data-frame="${frame.frame}"][data-stage=kernels]`);
      assert.ok(box.width < 2, 'the point of this test is a span that is hard to hit');
      await page.mouse.move(box.left + 3, box.top + 8);
      const [begin, end] = frame.spans.kernels;
      const said = await page.getByRole('status').innerText();
      assert.ok(said.includes(`frame ${frame.frame}, kernels: ${(end - begin).toFixed(3)} ms`), said);
      assert.ok(said.includes(`meanwhile: decode ${frame.frame + 1}`), said);
      const lit = await plot
        .locator('.of-frame')
        .evaluateAll((spans) => spans.map((one) => [one.dataset.frame, getComputedStyle(one).opacity]));
      assert.deepEqual(
        lit,
        Object.keys(frame.spans).map(() => [String(frame.frame), '1']),
      );
      assert.equal(
        await plot
          .locator('.span:not(.of-frame)')
          .first()
          .evaluate((one) => getComputedStyle(one).opacity),
        '0.3',
      );
      const [band] = await boxes(plot, '.band');
      const [first] = await boxes(plot, `.span[data-frame="${frame.frame}"][data-stage=decode]`);
      const [last] = await boxes(plot, `.span[data-frame="${frame.frame}"][data-stage=encode]`);
      near(band.left, first.left, 1, 'begin of the band');
      near(band.right, last.right, 1, 'end of the band');
      await page.mouse.move(5, 5);
      assert.equal(await page.getByRole('status').isVisible(), false);
    }));

  test('a wheel scrolls the page; with Ctrl, or on a timeline that was chosen, it zooms around the pointer', () =>
    withPage(REPORTS.textbook, DESKTOP, 'wheel', async (page) => {
      const plot = plotOf(page, 'sync');
      await plot.evaluate((element) => element.scrollIntoView({ block: 'center' }));
      const span = plot.locator('.span[data-stage=kernels]').nth(12);
      const middle = async () => {
        const box = await span.boundingBox();
        return { x: box.x + box.width / 2, y: box.y + box.height / 2, width: box.width };
      };
      const before = await middle();
      await page.mouse.move(before.x, before.y);
      const scrollY = await page.evaluate(() => window.scrollY);
      await page.mouse.wheel(0, 40);
      await page.waitForFunction((y) => window.scrollY === y, scrollY + 40, { timeout: 5000 });
      const scrolled = await middle();
      assert.equal(scrolled.width, before.width);
      await page.mouse.move(scrolled.x, scrolled.y);
      await page.keyboard.down('Control');
      await page.mouse.wheel(0, -200);
      await page.keyboard.up('Control');
      await page.waitForFunction(
        (width) =>
          document.querySelectorAll('.plot[data-mode=sync] .span[data-stage=kernels]')[12].offsetWidth > width * 1.5,
        before.width,
      );
      const zoomed = await middle();
      near(zoomed.width / before.width, Math.E, 0.05, 'zoom of 200 wheel units');
      near(zoomed.x, scrolled.x, 2.5, 'what was under the pointer, which is at whole pixels');
      await page.mouse.click(zoomed.x, zoomed.y);
      await page.mouse.wheel(0, 250);
      await page.waitForFunction(
        (width) =>
          document.querySelectorAll('.plot[data-mode=sync] .span[data-stage=kernels]')[12].offsetWidth < width * 0.8,
        zoomed.width,
      );
      near((await middle()).y, zoomed.y, 1, 'the page while zooming');
    }));

  test('dragging pans', () =>
    withPage(REPORTS.textbook, DESKTOP, 'drag', async (page) => {
      const plot = plotOf(page, 'sync');
      await plot.scrollIntoViewIfNeeded();
      await page.getByRole('button', { name: 'Zoom in, sync' }).click();
      const span = plot.locator('.span[data-stage=kernels]').nth(15);
      const { x, y } = await span.boundingBox();
      await page.mouse.move(x + 4, y + 5);
      await page.mouse.down();
      await page.mouse.move(x + 104, y + 5, { steps: 5 });
      await page.mouse.up();
      near((await span.boundingBox()).x, x + 100, 1, 'the dragged span');
      await page.getByRole('button', { name: 'Show all frames, sync' }).click();
      await checkSpans(
        page,
        'end-to-end',
        'sync',
        REPORTS.textbook.end_to_end.modes.sync.timeline,
        0,
        blockExtent(REPORTS.textbook.end_to_end),
      );
    }));

  test('touch: a tap tells, two fingers zoom, one pans', () =>
    withPage(REPORTS.textbook, PHONE, 'touch', async (page) => {
      const plot = plotOf(page, 'sync');
      await plot.evaluate((element) => element.scrollIntoView({ block: 'center' }));
      const span = plot.locator('.span[data-stage=kernels]').nth(14);
      const start = await span.boundingBox();
      await page.touchscreen.tap(start.x + start.width / 2, start.y + start.height / 2);
      assert.match(await page.getByRole('status').innerText(), /^frame 164, kernels/);
      const session = await page.context().newCDPSession(page);
      const touch = (type, ...xs) =>
        session.send('Input.dispatchTouchEvent', { type, touchPoints: xs.map((x, id) => ({ x, y: start.y + 5, id })) });
      const center = start.x + start.width / 2;
      await touch('touchStart', center - 30, center + 30);
      for (let i = 1; i <= 6; ++i) await touch('touchMove', center - 30 - 5 * i, center + 30 + 5 * i);
      await touch('touchEnd');
      const zoomed = await span.boundingBox();
      near(zoomed.width / start.width, 2, 0.1, 'zoom of fingers twice as far apart');
      near(zoomed.x + zoomed.width / 2, center, 4, 'what was between the fingers');
      await touch('touchStart', center);
      for (let i = 1; i <= 6; ++i) await touch('touchMove', center - 10 * i);
      await touch('touchEnd');
      near((await span.boundingBox()).x, zoomed.x - 60, 2, 'the dragged span');
    }));
}
