import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { complaintsOn, startBrowser } from '../support/browser.js';
import { accessibilityFaultsOf, changeTheme, COLOR_RULES, overflowOf } from '../support/console.js';
import { type DemoAccount, startDemoAccount } from '../support/demo-account.js';

let demo: DemoAccount;
let browser: Browser;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  [demo, browser] = await Promise.all([startDemoAccount(), startBrowser()]);
});
afterAll(async () => {
  await demo.stop();
});
afterEach(async () => {
  await page.context().close();
  expect(complaints).toEqual([]);
});

async function openAt(path: string, options: BrowserContextOptions = {}): Promise<void> {
  // The input for the browser's own dialog, which would hide a 401 from the page.
  const [username = '', password = ''] = demo.auth.split(':');
  const httpCredentials = { username, password };
  const context = await browser.newContext({ httpCredentials, locale: 'en-US', ...options });
  page = await context.newPage();
  complaints = complaintsOn(page);
  await page.goto(demo.api.url + path);
}

/** Opens the page at an operation, which is shown in full. */
async function open(tag: string, operation: string, options?: BrowserContextOptions) {
  await openAt(`/docs#/${tag}/${operation}`, options);
  const block = page.locator(`#operations-${tag}-${operation}`);
  await block.locator('.opblock-body').waitFor();
  return block;
}

/** Sends the request of an operation that is open, and waits until that status is shown. */
async function execute(block: Locator, expected: string): Promise<void> {
  await block.locator('.execute').click();
  const status = block.locator('.live-responses-table tbody .response-col_status');
  await status.filter({ hasText: expected }).waitFor();
}

it('shows that a request without credentials was refused, and sends the entered ones', async () => {
  const list = await open('Applications', 'applicationsList');
  await list.locator('.try-out__btn').click();
  await execute(list, '401');
  await page.locator('.btn.authorize').first().click();
  const [username = '', password = ''] = demo.auth.split(':');
  await page.locator('input[name=username]').fill(username);
  await page.locator('input[name=password]').fill(password);
  await page.locator('.auth-btn-wrapper .authorize').click();
  await page.locator('.btn-done').click();
  await execute(list, '200');
});

it('shows an operation that its address names below the filter, on few screens', async () => {
  const block = await open('Webhooks', 'webhooksUpdate');
  await page.waitForFunction('scrollY > 0');
  const top = (await block.boundingBox())!.y;
  const filter = (await page.locator('search').boundingBox())!;
  expect(top).toBeGreaterThanOrEqual(filter.y + filter.height - 1);
  expect(top).toBeLessThan(200);
  await block.locator('tr.response').last().waitFor();
  const { height } = (await block.boundingBox())!;
  expect(height).toBeLessThan(3_000);
  expect(await block.locator('tr.response').count()).toBeGreaterThan(8);

  // Its filter finds words of paths, names and summaries.
  const shown = page.locator('.opblock-summary-operation-id');
  expect(await shown.count()).toBeGreaterThan(40);
  const namesFor = async (words: string) => {
    await page.getByRole('searchbox', { name: 'Filter' }).fill(words);
    await page.waitForFunction('document.querySelectorAll(".opblock").length < 5');
    return shown.allInnerTexts();
  };
  expect(await namesFor('subscription pause')).toEqual(['webhooksPause']);
  expect(await namesFor('OPENAPI.json')).toEqual(['docsOpenApi']);
});

it('links to the receiving guide, which links back', async () => {
  await openAt('/docs');
  await page.getByRole('link', { name: 'Receiving guide' }).click();
  await page.getByRole('heading', { name: 'Receiving notifications' }).waitFor();
  await page.getByRole('link', { name: 'API reference' }).click();
  await page.getByRole('heading', { name: 'API reference' }).waitFor();
});

const PAGES: Record<string, () => Promise<unknown>> = {
  'an operation of the API reference': () =>
    page.locator('.opblock-body .responses-table').first().waitFor(),
  'the receiving guide': () => page.locator('h1').waitFor(),
  'a reference of the receiving guide': () => page.locator('h1').waitFor(),
};
const ADDRESSES: Record<string, string> = {
  'an operation of the API reference': '/docs#/Webhooks/webhooksUpdate',
  'the receiving guide': '/docs/receiving',
  'a reference of the receiving guide': '/docs/receiving/subscriptions',
};

it.each(Object.entries(PAGES))(
  '%s is accessible in both themes, fits 360 px, and has the theme chosen in the console',
  async (name, isReady) => {
    await openAt(ADDRESSES[name]!, { colorScheme: 'light' });
    await isReady();
    for (const [colorScheme, background, rules] of [
      ['light', 'rgb(246, 247, 249)', undefined],
      ['dark', 'rgb(14, 16, 20)', COLOR_RULES],
    ] as const) {
      await changeTheme(page, colorScheme);
      const faults = await accessibilityFaultsOf(page, rules);
      // Swagger UI names this one by a text beside it that is no label.
      expect(faults.filter((fault) => !fault.includes('examples-select-element'))).toEqual([]);
      const shown = 'getComputedStyle(document.documentElement).backgroundColor';
      expect(await page.evaluate(shown)).toBe(background);
    }
    await page.setViewportSize({ width: 360, height: 700 });
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.evaluate("localStorage.setItem('switchhook.theme', 'dark')");
    await page.reload();
    await isReady();
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
  },
);

it('the receiving guide needs no script', async () => {
  // An address of before 2.0, when the guide was one page.
  await openAt('/docs/receiving#retries', { javaScriptEnabled: false });
  const entry = page.getByRole('main').getByRole('link', { name: 'Retries', exact: true });
  expect((await entry.boundingBox())!.y).toBeLessThan(800);
  await entry.click();
  await page.getByRole('heading', { name: 'Retries' }).waitFor();
  expect(await page.getByRole('navigation', { name: 'Contents' }).isVisible()).toBe(true);
  const heading = (await page.getByRole('heading', { name: 'Retries' }).boundingBox())!;
  expect(heading.y).toBeLessThan(200);
});
