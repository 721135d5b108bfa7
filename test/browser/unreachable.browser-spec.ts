import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { BreakableLink } from '../support/breakable-link.js';
import { ConsoleInstallation, type Customer } from '../support/console.js';

let installation: ConsoleInstallation;
let customer: Customer;
let link: BreakableLink;

beforeAll(async () => {
  installation = await ConsoleInstallation.start();
});
afterAll(() => installation.stop());
beforeEach(async () => {
  customer = await installation.aCustomer();
  link = await BreakableLink.to(installation.api.url);
});
afterEach(async () => {
  await installation.closePages();
  await link.break();
});

/** The console behind the link. Its clock can be set forward. */
async function openBehindLink(path: string): Promise<Page> {
  const page = await installation.openAs(customer, path, { colorScheme: 'light' });
  await page.clock.install();
  await page.goto(`${link.url}/console/${path}`);
  await page.locator('.stream.live').waitFor();
  return page;
}

const pagesOf = (page: Page) => page.getByRole('navigation', { name: 'Pages' });

it('says when an API is frozen, and mends itself when it goes on', async () => {
  // The file of the page is loaded, and not what it shows next.
  const page = await openBehindLink('events?unmatched=true');
  await page.getByText('Every event was sent').waitFor();
  link.freeze();
  await installation.report(customer);
  await page.clock.fastForward(15_000);
  await page.getByText(/^Not reachable since \d\d:\d\d:\d\d/).waitFor();
  expect(await page.locator('.who .stream').innerText()).toBe('Not reachable');
  await pagesOf(page).getByRole('link', { name: 'Events' }).click();
  await page.locator('.skeleton').first().waitFor({ state: 'attached' });
  await page.clock.fastForward(15_000);
  await page.getByText('The server did not answer.').waitFor();

  link.thaw();
  await page.getByRole('row').getByText('cdrCreated · call').waitFor();
  await page.locator('.stream.live').waitFor();
  expect(await page.getByText('Not reachable').count()).toBe(0);
});

it('mends itself when an API is back, also a page whose file could not be loaded', async () => {
  const page = await openBehindLink('deliveries');
  await link.break();
  await page.getByText(/^Not reachable since/).waitFor();
  await pagesOf(page).getByRole('link', { name: 'Audit log' }).click();
  await page.getByText('This page does not work').waitFor();
  await link.restore();
  await page.getByRole('heading', { name: 'Audit log' }).waitFor();
  await page.locator('.stream.live').waitFor();
  await page.close();
  // The browser reports the missing file, too.
  expect(installation.complaints.splice(0).length).toBeGreaterThan(0);
});

it('opens when an API that was away is back', async () => {
  const page = await openBehindLink('deliveries');
  await page.route('**/v1/session', (route) => route.abort());
  await page.reload();
  await page.getByText('The server did not answer.').waitFor();
  await page.unroute('**/v1/session');
  await page.getByText('There are no deliveries yet.').waitFor();
});
