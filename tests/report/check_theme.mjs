// Themes, and the page on paper.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileOf, textContrasts } from './browser.mjs';
import { DARK_DESKTOP, DESKTOP, REPORTS, blockExtent, checkBars, checkSpans, rgb, withPage } from './report_checks.mjs';

export function checkTheme() {
  test('the toggle changes the theme, names what it would do, and is remembered', () =>
    withPage(REPORTS.textbook, DARK_DESKTOP, 'theme', async (page) => {
      const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const dark = await paper();
      assert.ok(
        rgb(dark).every((value) => value < 40),
        dark,
      );
      await page.getByRole('button', { name: 'Switch to the light theme' }).click();
      assert.ok(
        rgb(await paper()).every((value) => value > 230),
        await paper(),
      );
      assert.equal(await page.getByRole('button', { name: 'Switch to the dark theme' }).count(), 1);
      await page.reload();
      assert.ok(
        rgb(await paper()).every((value) => value > 230),
        'forgotten',
      );
    }));

  test('without a choice the page follows the system', () =>
    withPage(REPORTS.textbook, DESKTOP, 'system', async (page) => {
      assert.equal(await page.locator('html').getAttribute('data-theme'), 'light');
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.waitForSelector('html[data-theme=dark]', { timeout: 5000 });
    }));

  test('paper is light, as wide as its sheet, without controls, and as true as the screen', () =>
    withPage(REPORTS.fastGpu, DARK_DESKTOP, 'print', async (page) => {
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      await page.setViewportSize({ width: 698, height: 1000 }); // A4 without its margins
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 698);
      for (const control of ['button', 'nav', '.hint', 'input'])
        assert.equal(await page.locator(control).first().isVisible(), false, control);
      const texts = await page.evaluate(textContrasts);
      assert.deepEqual(
        texts.filter(({ ratio }) => !(ratio >= 4.5)),
        [],
      );
      assert.equal(
        await page.evaluate(() => getComputedStyle(document.querySelector('.cost')).backgroundColor),
        'rgb(255, 255, 255)',
      );
      await checkBars(page, 'end-to-end', REPORTS.fastGpu.end_to_end);
      const { multistream } = REPORTS.fastGpu.end_to_end.modes;
      await checkSpans(
        page,
        'end-to-end',
        'multistream',
        multistream.timeline,
        0,
        blockExtent(REPORTS.fastGpu.end_to_end),
      );
      await page.screenshot({ path: fileOf('fastGpu-print.png'), fullPage: true });
      const pdf = (await page.pdf({ path: fileOf('fastGpu.pdf'), format: 'A4' })).toString('latin1');
      assert.equal((pdf.match(/\/Type \/Page\b/g) ?? []).length, 4);
    }));
}
