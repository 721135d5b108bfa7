import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { idOf, type Schemas } from '#libs/client';
import { ConsoleInstallation, type Customer, loadingOf } from '../support/console.js';

let installation: ConsoleInstallation;
let operator: Customer;
let customer: Customer;
let application: string;
let paused: string;
/** Its pages as an operator sees them. */
let pages: string[];

beforeAll(async () => {
  installation = await ConsoleInstallation.start({ DELIVERY_RETRY_SCHEDULE: '1h' });
  installation.receiver.answering = (_, response) => response.writeHead(500).end();
  operator = await installation.anOperator();
  customer = await installation.aCustomer();
  const { client, id } = customer;
  const voice = { name: 'Shop', voiceUrl: 'https://shop.example.com/voice' };
  application = idOf((await client.post('/v1/applications', voice)).json());
  await installation.aSubscription(customer);
  paused = await installation.aSubscription(customer, { event: 'smsdlr', name: 'Messages' });
  await client.post(`/v1/webhooks/${paused}/pause`, {});
  const about = { accountId: id, applicationId: application, data: {} };
  const events = [
    { ...about, event: 'cdrCreated', resource: 'call' },
    { ...about, event: 'smsdlr', resource: 'sms' },
    { ...about, event: 'cdrRated', resource: 'call' },
  ];
  for (const event of events) {
    expect((await installation.platform.post('/v1/events', event)).status).toBe(202);
  }
  await installation.receiver.until((received) => received.length === 1);
  const ids = async (path: string) =>
    (await client.get(path)).json<{ id: string }[]>().map((one) => one.id);
  const deliveries = await ids('/v1/deliveries');
  expect(deliveries.length).toBe(2);
  pages = [
    ...['installation', 'load', 'accounts', `accounts/${id}`, 'overview'],
    ...['overview', 'subscriptions', 'applications'].map((page) => `${page}?accountId=${id}`),
    ...['', '&tab=settings'].map((tab) => `subscriptions/${paused}?accountId=${id}${tab}`),
    ...['', '&tab=settings'].map((tab) => `applications/${application}?accountId=${id}${tab}`),
    ...['deliveries', `deliveries?accountId=${id}`, `deliveries?open=${deliveries[0]!}`],
    ...deliveries.map((one) => `deliveries/${one}`),
    ...['events', ...(await ids('/v1/events')).map((one) => `events/${one}`)],
    ...['audit', `audit?resource=webhook&resourceId=${paused}`],
    `audit?resource=application&resourceId=${application}`,
    `audit?resource=user&resourceId=${id}`,
  ];
});
afterAll(() => installation.stop());
afterEach(() => installation.closePages());

const HOME = '/console/';
/** API paths that its user may not read, and pages that do not exist. */
const NOT_FOUND = /There is no (such|page)/;

it('sees no dead link', async () => {
  const page = await installation.openAs(operator, '');
  const loaded = loadingOf(page);
  /** Opens an address in the page, which is loaded once. */
  const open = async (path: string): Promise<void> => {
    await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
    await loaded();
    await page.locator('#main h1').waitFor();
    await loaded();
  };
  const links = new Map<string, string>();
  for (const path of pages.map((each) => HOME + each)) {
    await open(path);
    expect(await page.locator('#main').innerText(), path).not.toMatch(NOT_FOUND);
    for (const link of await page.locator('a[href]').all()) {
      const href = (await link.getAttribute('href')) ?? '';
      if (href.startsWith(HOME)) links.set(href, path);
    }
  }
  // An id alone is one of the operator's own.
  const ids = [...links.keys()].filter((href) => /\/(subscriptions|applications)\//.test(href));
  expect(ids.length).toBeGreaterThan(0);
  expect(ids.filter((href) => !href.includes(`accountId=${customer.id}`))).toEqual([]);
  for (const path of pages) links.delete(HOME + path);
  expect(links.size).toBeGreaterThan(5);
  for (const [href, from] of links) {
    await open(href);
    const text = await page.locator('#main').innerText();
    expect(text, `${href}, a link on ${from}`).not.toMatch(NOT_FOUND);
  }
}, 180_000);

it("is not offered the page of a customer's subscription in the palette", async () => {
  const page = await installation.openAs(operator, 'deliveries');
  await page.keyboard.press('Control+k');
  await page.keyboard.insertText('4711');
  const options = page.getByRole('listbox', { name: 'Found' }).getByRole('option');
  await options.getByText('Open this account').waitFor();
  expect(await options.getByText(/subscription|application/).count()).toBe(0);
});

/** What the customer's audit notes of operators, newest first. */
async function noted(): Promise<string[]> {
  const entries = (await customer.client.get('/v1/audit')).json<Schemas['AuditEntry'][]>();
  return entries.map(({ action }) => action).filter((action) => /list|show/.test(action));
}

describe('the resources of a customer', () => {
  const BUTTONS = /Save|Delete|Pause|Resume|Send|Switch|More actions|New/;
  const buttonsOf = (page: Page) =>
    page.locator('#main').getByRole('button', { name: BUTTONS }).count();

  it('are shown to an operator read-only, with a notice, and each is noted once', async () => {
    const before = await noted();
    const visitor = await installation.anOperator();
    const page = await installation.openAs(visitor, `accounts/${customer.id}`);
    await page.locator('.account-pages').getByRole('link', { name: 'Subscriptions' }).click();
    await page.getByText('For the whole account: 2 of 10').waitFor();
    const notice = page.getByRole('complementary', { name: 'Another account' });
    await notice.getByRole('link', { name: customer.username }).waitFor();
    await page.getByRole('link', { name: 'Messages' }).click();
    await page.getByRole('heading', { name: 'Messages' }).waitFor();
    await notice.getByText('the audit log of that account notes that you read it').waitFor();
    await page.getByText('oldest first, when it is resumed').waitFor();
    expect(await page.getByRole('link', { name: 'Signing secret' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Settings' }).click();
    expect(await page.getByLabel('Target URL').isDisabled()).toBe(true);
    expect(await page.getByLabel('Name').inputValue()).toBe('Messages');
    expect(await buttonsOf(page)).toBe(0);
    await page.locator('.crumb').click();
    await page.getByText('For the whole account: 2 of 10').waitFor();
    const all = await noted();
    expect(all.slice(0, all.length - before.length).toSorted()).toEqual([
      'user.list_applications',
      'user.list_webhooks',
      'webhook.show',
    ]);
  });

  it('include its applications', async () => {
    const page = await installation.openAs(operator, `applications?accountId=${customer.id}`);
    await page.getByRole('link', { name: 'Shop' }).click();
    await page.getByText('0 of 10 subscriptions.').waitFor();
    expect(await page.getByRole('link', { name: 'New subscription' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Settings' }).click();
    expect(await page.getByLabel('Voice URL').inputValue()).toBe('https://shop.example.com/voice');
    expect(await page.getByLabel('Voice URL').isDisabled()).toBe(true);
    expect(await buttonsOf(page)).toBe(0);
  });

  it('are those of the account in the address alone', async () => {
    const other = await installation.aCustomer();
    const path = `subscriptions/${paused}?accountId=${other.id}`;
    const page = await installation.openAs(operator, path);
    await page.getByText('There is no such subscription.').waitFor();
  });
});

it('subscribes to the notices of all accounts, which customers are not offered', async () => {
  const offered = (page: Page) => page.getByLabel('Of all accounts');
  const page = await installation.openAs(operator, 'subscriptions/new');
  expect(await offered(page).count()).toBe(0);
  await page.getByLabel('Event', { exact: true }).selectOption('webhookFailing');
  await offered(page).check();
  await page.getByLabel('Target URL').fill('https://pager.example.com/switchhook');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.locator('.about').getByText('all accounts').waitFor();
  const own = (await operator.client.get('/v1/webhooks')).json<Schemas['Webhook'][]>();
  expect(own).toMatchObject([{ event: 'webhookFailing', accounts: 'all' }]);
  const theirs = await installation.openAs(customer, 'subscriptions/new');
  await theirs.getByLabel('Event', { exact: true }).selectOption('webhookFailing');
  expect(await offered(theirs).count()).toBe(0);
});

describe('the load by account', () => {
  let busy: Customer;

  beforeAll(async () => {
    busy = await installation.aCustomer();
    const quiet = await installation.aCustomer();
    await installation.database.query(
      `INSERT INTO account_loads (at, account_id, reported, delivered, failed, busy_ms)
       SELECT date_trunc('hour', now()), id, reported, 7, failed, busy_ms
       FROM (VALUES ($1::bigint, 5000, 2000, 99000000000), ($2, 8000, 1000, 1000000000))
         AS load (id, reported, failed, busy_ms)`,
      [busy.id, quiet.id],
    );
  });

  it('is sorted by each of its columns', async () => {
    const page = await installation.openAs(operator, 'load');
    const first = page.getByRole('table', { name: 'Accounts' }).getByRole('row').nth(1);
    await first.getByText('5,000').waitFor();
    await page.getByText(/Events and attempts since .*:00\. Waiting: now\./).waitFor();
    await first.getByText('99%').waitFor();
    await page.getByRole('button', { name: 'Events' }).click();
    await first.getByText('8,000').waitFor();
    await page.getByRole('button', { name: 'Failed attempts' }).click();
    await first.getByText('2,000').waitFor();
    await page.getByRole('button', { name: 'Failed attempts' }).click();
    await page.locator('[aria-sort=ascending]').waitFor();
    await page.getByRole('table').getByRole('row').last().getByText('2,000').waitFor();
    expect(page.url()).toMatch(/sort=failed$/);
  });

  it("leads to an account's pages, from the installation, too", async () => {
    const page = await installation.openAs(operator, 'installation');
    const section = page.getByRole('region', { name: 'Accounts by load' });
    await section.getByRole('link', { name: busy.username }).waitFor();
    await section.getByRole('link', { name: 'All accounts by load' }).click();
    await page.getByRole('link', { name: busy.username }).click();
    await page.getByRole('heading', { name: busy.username }).waitFor();
  });

  it('says what is wrong with a sorting in the address', async () => {
    const page = await installation.openAs(operator, 'load?sort=nonsense');
    await page.getByText('sort must be one of').waitFor();
  });
});
