import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { idOf } from '#libs/client';
import { ConsoleInstallation, type Customer } from '../support/console.js';

let installation: ConsoleInstallation;
let operator: Customer;
/** Its pages as an operator sees them. */
let pages: string[];

beforeAll(async () => {
  installation = await ConsoleInstallation.start({ DELIVERY_RETRY_SCHEDULE: '1h' });
  installation.receiver.answering = (_, response) => response.writeHead(500).end();
  operator = await installation.anOperator();
  const customer = await installation.aCustomer();
  const { client, id } = customer;
  const voice = { name: 'Shop', voiceUrl: 'https://shop.example.com/voice' };
  const application = idOf((await client.post('/v1/applications', voice)).json());
  await installation.aSubscription(customer);
  const paused = await installation.aSubscription(customer, { event: 'smsdlr' });
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
    ...['installation', 'accounts', `accounts/${id}`, 'overview', `overview?accountId=${id}`],
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

async function isShown(page: Page): Promise<void> {
  await page.locator('#main h1').waitFor();
  await page.waitForLoadState('networkidle');
}

it('sees no dead link', async () => {
  const page = await installation.openAs(operator, '');
  const links = new Map<string, string>();
  for (const path of pages.map((each) => HOME + each)) {
    await page.goto(installation.api.url + path);
    await isShown(page);
    expect(await page.locator('#main').innerText(), path).not.toMatch(NOT_FOUND);
    for (const link of await page.locator('a[href]').all()) {
      const href = (await link.getAttribute('href')) ?? '';
      if (href.startsWith(HOME)) links.set(href, path);
    }
  }
  expect([...links.keys()].filter((href) => /\/(subscriptions|applications)/.test(href))).toEqual(
    [],
  );
  for (const path of pages) links.delete(HOME + path);
  expect(links.size).toBeGreaterThan(5);
  for (const [href, from] of links) {
    await page.goto(installation.api.url + href);
    await isShown(page);
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
