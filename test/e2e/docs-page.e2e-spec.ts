import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { complaintsOn, startBrowser } from '../support/browser.js';
import { type DemoAccount, startDemoAccount } from '../support/demo-account.js';

let demo: DemoAccount;
let browser: Browser;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  [demo, browser] = await Promise.all([startDemoAccount(), startBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await demo.stop();
});
beforeEach(async () => {
  // What a user would enter into the browser's own dialog, which hides a 401 from the page.
  const [username = '', password = ''] = demo.auth.split(':');
  page = await browser.newPage({ httpCredentials: { username, password } });
  complaints = complaintsOn(page);
});
afterEach(async () => {
  await page.close();
  expect(complaints).toEqual([]);
});

/** Opens the page at an operation, which is shown in full. */
async function open(tag: string, operation: string) {
  await page.goto(`${demo.api.url}/docs#/${tag}/${operation}`);
  const block = page.locator(`#operations-${tag}-${operation}`);
  await block.locator('.opblock-body').waitFor();
  return block;
}

/** Sends the request of an operation that is open. @returns the status of the answer as it is shown */
async function execute(block: Locator): Promise<string> {
  await block.locator('.try-out__btn').click();
  await block.locator('.execute').click();
  const status = block.locator('.live-responses-table tbody .response-col_status');
  await status.waitFor();
  return (await status.innerText()).trim();
}

it('shows that a request without credentials was refused', async () => {
  const list = await open('Applications', 'applicationsList');
  expect(await execute(list)).toMatch(/^401/);
});

it('sends the credentials that were entered', async () => {
  const list = await open('Applications', 'applicationsList');
  await page.locator('.btn.authorize').first().click();
  const [username = '', password = ''] = demo.auth.split(':');
  await page.locator('input[name=username]').fill(username);
  await page.locator('input[name=password]').fill(password);
  await page.locator('.auth-btn-wrapper .authorize').click();
  await page.locator('.btn-done').click();
  expect(await execute(list)).toMatch(/^200/);
});

it('shows an operation on few screens', async () => {
  const block = await open('Webhooks', 'webhooksUpdate');
  await block.locator('tr.response').last().waitFor();
  const { height } = (await block.boundingBox())!;
  expect(height).toBeLessThan(3_000);
  expect(await block.locator('tr.response').count()).toBeGreaterThan(8);
});
