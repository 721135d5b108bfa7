import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { ConsoleInstallation, type Customer } from '../support/console.js';

let installation: ConsoleInstallation;
let customer: Customer;

beforeAll(async () => {
  installation = await ConsoleInstallation.start({ DELIVERY_RETRY_SCHEDULE: '1h' });
});
afterAll(() => installation.stop());
beforeEach(async () => {
  installation.receiver.answering = (_, response) => response.end();
  customer = await installation.aCustomer();
});
afterEach(() => installation.closePages());

/** Waits until workers have counted as many attempts. */
async function attemptsCounted(count: number): Promise<void> {
  const read = async () =>
    (await customer.client.get('/v1/stats')).json<Schemas['AttemptHistory']>();
  await eventually(read, ({ attempts }) => attempts === count, { ms: 40_000 });
}

it('is where a login leads, and says to a new account what to do first', async () => {
  const page = await installation.openAs(customer, '');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(page.url()).toMatch(/console\/overview$/);
  await page.getByText('There are no subscriptions yet').waitFor();
  const create = page.getByRole('link', { name: 'Create a subscription' });
  expect(await create.getAttribute('href')).toBe('/console/subscriptions/new');
  await page.getByRole('link', { name: 'create an application' }).waitFor();
});

it('shows the outcomes and answer times of a time range, as charts and as tables', async () => {
  const webhook = await installation.aSubscription(customer);
  installation.receiver.answering = (_, response) => response.writeHead(500).end();
  await installation.report(customer);
  await installation.delivery(customer, 'pending');
  installation.receiver.answering = (_, response) => response.end();
  await installation.report(customer);
  await installation.delivery(customer, 'succeeded');
  await attemptsCounted(2);

  const page = await installation.openAs(customer, 'overview');
  await page.getByText('Of all attempts, 1 met a server error (5xx).').waitFor();
  await page.getByText('50% of attempts').waitFor();
  await page.locator('.plot canvas').nth(1).waitFor();
  await page.getByText('Attempts as a table').click();
  const table = page.getByRole('region', { name: 'Attempts, table' });
  const rows = await table.getByRole('row').allInnerTexts();
  const counts = rows.slice(1).map((row) => row.split('\t').slice(1).map(Number));
  const sums = [0, 1].map((at) => counts.reduce((sum, row) => sum + row[at]!, 0));
  expect([counts.length >= 12, sums]).toEqual([true, [1, 1]]);

  await page.getByRole('link', { name: '7 d' }).click();
  await expect.poll(() => table.getByRole('row').count()).toBeGreaterThan(50);
  expect(page.url()).toMatch(/overview\?range=week$/);
  await page.goBack();
  await expect.poll(() => table.getByRole('row').count()).toBeLessThan(20);

  const ofOne = await installation.openAs(customer, `subscriptions/${webhook}`);
  await ofOne.getByText('Of all attempts, 1 met a server error (5xx).').waitFor();
});

it('draws charts where the language of the browser is no language tag', async () => {
  await installation.aSubscription(customer);
  const page = await installation.openAs(customer, 'audit');
  const language = `{ get: () => 'en-US@posix' }`;
  await page.addInitScript(`Object.defineProperty(Navigator.prototype, 'language', ${language})`);
  await page.goto(`${installation.api.url}/console/overview`);
  await page.locator('.plot canvas').nth(1).waitFor();
});

it('shows the table of a chart that cannot be drawn', async () => {
  await installation.aSubscription(customer);
  const page = await installation.openAs(customer, 'audit');
  await page.route('**/assets/plot-*.js', (route) => route.abort());
  await page.goto(`${installation.api.url}/console/overview`);
  await page.getByRole('region', { name: 'Attempts, table' }).waitFor();
  await page.getByRole('region', { name: 'Answer time, table' }).waitFor();
  expect(await page.locator('.plot').count()).toBe(0);
  await page.close();
  // The browser says why.
  expect(installation.complaints.splice(0).length).toBeGreaterThan(0);
});

it('shows by itself what begins to fail, since when, and when it works again', async () => {
  const name = '<img src=x onerror="document.title=\'taken\'">';
  const webhook = await installation.aSubscription(customer, { name });
  const page = await installation.openAs(customer, 'overview');
  const failing = page.getByRole('region', { name: 'Needs attention' });
  await failing.getByText('your subscription is well').waitFor();

  installation.receiver.answering = (_, response) => response.writeHead(500).end();
  await installation.report(customer);
  await failing.getByText('1 subscription', { exact: true }).waitFor();
  const count = page.locator('.side .count');
  await expect.poll(() => count.allInnerTexts()).toEqual(['1']);
  await failing.getByText(/since \d\d:\d\d:\d\d/).waitFor();
  await failing.getByText('500', { exact: true }).waitFor();
  const { id } = await installation.delivery(customer, 'pending');
  expect(await failing.getByRole('link', { name: '500', exact: true }).getAttribute('href')).toBe(
    `/console/deliveries/${id}`,
  );
  expect(await failing.getByRole('link', { name }).getAttribute('href')).toBe(
    `/console/subscriptions/${webhook}`,
  );
  expect(await page.title()).toBe('Overview – Switchhook');

  await page.reload();
  await failing.getByText('500', { exact: true }).waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  installation.receiver.answering = (_, response) => response.writeHead(503).end();
  await installation.report(customer);
  await failing.getByText('503', { exact: true }).waitFor();

  installation.receiver.answering = (_, response) => response.end();
  await customer.client.post(`/v1/webhooks/${webhook}/test`, {});
  await failing.getByText('your subscription is well').waitFor();
  await expect.poll(() => count.count()).toBe(0);
  await page.getByText('2 deliveries wait for another try.').waitFor();
  await page.getByRole('link', { name: 'See them, or send them now' }).click();
  await page.getByLabel('Select all shown').check();
  await page.getByRole('button', { name: 'Send 2 selected now' }).click();
  await page.getByText('Sending 2 deliveries now.').waitFor();
  await page.goBack();
  await page.getByText('for another try.').waitFor({ state: 'detached' });
  await failing.getByText('your subscription is well').waitFor();
});

it('shows operators the attempts of the account that they pick, and nothing that is empty', async () => {
  await installation.aSubscription(customer);
  await installation.report(customer);
  await attemptsCounted(1);
  const page = await installation.openAs(await installation.anOperator(), 'overview');
  await page.getByText('Pick an account').waitFor();
  await page.getByRole('combobox', { name: 'Account' }).fill(customer.username);
  await page.keyboard.press('Enter');
  await page.getByText('All attempts succeeded.').waitFor();
  const links = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  expect(await links.allInnerTexts()).toEqual([
    'Installation',
    'Overview',
    'Accounts',
    'Deliveries',
    'Events',
    'Audit log',
  ]);
});
