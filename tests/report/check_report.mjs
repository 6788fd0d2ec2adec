// The page of `compare --report` in a real browser, against the figures of reports.mjs. Run by check_report.sh.
// One suite for all, so that the checks share one browser and run one after the other; node 18 runs no hook outside.
import { after, describe } from 'node:test';
import { closeBrowser } from './browser.mjs';
import { checkText } from './check_text.mjs';
import { checkTheme } from './check_theme.mjs';
import { checkTimelines } from './check_timelines.mjs';
import { checkVariants } from './check_variants.mjs';

describe('the report page', () => {
  after(closeBrowser);
  checkVariants();
  checkText();
  checkTimelines();
  checkTheme();
});
