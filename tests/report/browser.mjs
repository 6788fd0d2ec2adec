// Chromium, pages of reports made by hand, and what a check reads off a page.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

/** From check_report.sh: the program that makes a page, where pages and pictures go, the browser. */
const { REPORT_FIXTURE, REPORT_FOLDER, REPORT_CHROMIUM } = process.env;

export const VARIANTS = [
  { name: 'desktop-light', viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  { name: 'desktop-dark', viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  { name: 'phone-light', viewport: { width: 390, height: 844 }, colorScheme: 'light', isMobile: true, hasTouch: true },
  { name: 'phone-dark', viewport: { width: 390, height: 844 }, colorScheme: 'dark', isMobile: true, hasTouch: true },
];

export const fileOf = (name) => path.join(REPORT_FOLDER, name);
mkdirSync(REPORT_FOLDER, { recursive: true });
const browser = await chromium.launch({ executablePath: REPORT_CHROMIUM });
export const closeBrowser = () => browser.close();

/** Opens the page of `report`; `complaints` gathers what the console says and what the network is asked for. */
export async function openReport(report, variant, name) {
  const file = fileOf(`${name}-${variant.name}.html`);
  writeFileSync(file, execFileSync(REPORT_FIXTURE, { input: JSON.stringify(report), maxBuffer: 2 ** 28 }));
  const { name: _, ...options } = variant;
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  page.complaints = [];
  page.on('console', (message) => page.complaints.push(`console: ${message.text()}`));
  page.on('pageerror', (error) => page.complaints.push(`error: ${error}`));
  page.on('dialog', (dialog) => {
    page.complaints.push('dialog');
    dialog.dismiss();
  });
  page.on('request', (request) => {
    if (request.url() !== pathToFileURL(file).href && !request.url().startsWith('data:'))
      page.complaints.push(`request: ${request.url()}`);
  });
  await page.goto(pathToFileURL(file).href);
  return page;
}

/** {box, data} of each element that `selector` finds: its rectangle in the viewport and its data attributes. */
export const boxes = (scope, selector) =>
  scope.locator(selector).evaluateAll((found) =>
    found.map((element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return { left, top, width, height, right: left + width, bottom: top + height, data: { ...element.dataset } };
    }),
  );

/** [r, g, b] at points {left, top} of the viewport, read from a screenshot: what is really seen there. */
export async function pixels(page, points) {
  const picture = (await page.screenshot()).toString('base64');
  const reader = await (await browser.newContext()).newPage();
  const colors = await reader.evaluate(
    async ([data, places, width]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      const scale = image.width / width;
      return places.map(({ left, top }) => [...context.getImageData(left * scale, top * scale, 1, 1).data.slice(0, 3)]);
    },
    [picture, points, page.viewportSize().width],
  );
  await reader.context().close();
  return colors;
}

/** Runs in the page: contrast of each visible text with what is painted behind it, as {text, ratio}. */
export function textContrasts() {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const linear = (value) => (value <= 0.04045 * 255 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const background = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const style = getComputedStyle(element);
    const text = walker.currentNode.textContent.trim();
    if (
      !text ||
      element.closest('script, style, noscript, .unseen, .skip') ||
      style.fontSize === '0px' ||
      !element.checkVisibility()
    )
      continue;
    const [a, b] = [luminance(channels(style.color)), luminance(background(element))];
    found.push({ text, ratio: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) });
  }
  return found;
}
