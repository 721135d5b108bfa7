import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import {
  accessibilityFaultsOf,
  ConsoleInstallation,
  type Customer,
  overflowOf,
} from '../support/console.js';

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

/** @returns the id of the newest event */
async function newestEvent(): Promise<string> {
  const answer = await customer.client.get('/v1/events?limit=1');
  return answer.json<Schemas['Event'][]>()[0]!.id;
}

/** @returns the id of a new application */
async function anApplication(): Promise<string> {
  const body = { name: 'Switchboard', voiceUrl: 'http://voice.example/' };
  const answer = await customer.client.post('/v1/applications', body);
  return answer.json<{ href: string }>().href.split('/').at(-1)!;
}

it('lists events, and keeps the filter for missed ones in the address', async () => {
  await installation.report(customer);
  await installation.aSubscription(customer);
  await installation.report(customer);
  const page = await installation.openAs(customer, 'events');
  await page.getByText('2 events', { exact: true }).waitFor();
  await page.getByLabel('Notified').selectOption({ label: 'no subscription' });
  await page.getByText('1 event', { exact: true }).waitFor();
  expect(page.url()).toMatch(/events\?unmatched=true$/);
  await page.goBack();
  await page.getByText('2 events', { exact: true }).waitFor();
  await page.getByRole('row').nth(2).getByRole('link').click();
  await page.getByText('no subscription matched').waitFor();
});

it('erases a text, after it has counted where it is', async () => {
  await installation.report(customer, '{"from":"+14075550199"}');
  const page = await installation.openAs(customer, 'events');
  await page.getByRole('button', { name: 'Erase a text' }).click();
  const dialog = page.getByRole('dialog');
  const text = dialog.getByLabel('Text', { exact: true });
  await text.fill('+14');
  await dialog.getByRole('button', { name: 'Count' }).click();
  await dialog.getByText('must have 4 to 200 characters').waitFor();
  await text.fill('+14075550198');
  await dialog.getByRole('button', { name: 'Count' }).click();
  await dialog.getByText('Nothing contains this text.').waitFor();
  await text.fill('+14075550199');
  await dialog.getByRole('button', { name: 'Count' }).click();
  await dialog.getByText('in the data of 1 event and in 0').waitFor();
  expect(await accessibilityFaultsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Erase', exact: true }).click();
  await dialog.getByText('It is erased: 1 event').waitFor({ timeout: 20_000 });
  const found = await customer.client.get('/v1/events?contains=4075550199');
  expect(found.json()).toEqual([]);
});

it('gives the reason of each subscription that was not notified', async () => {
  const off = await installation.aSubscription(customer, { name: 'Off', enabled: false });
  await installation.aSubscription(customer, { name: 'Messages', event: 'smsdlr' });
  await installation.report(customer);
  await installation.aSubscription(customer, { name: 'Late' });
  const page = await installation.openAs(customer, `events/${await newestEvent()}`);
  await page
    .getByRole('region', { name: 'Notified', exact: true })
    .getByText('No subscription')
    .waitFor();
  const why = page.getByRole('region', { name: 'Not notified' });
  await expect
    .poll(() => why.locator('summary').allInnerTexts())
    .toEqual([
      'Disabled · 1 subscription',
      'Created later · 1 subscription',
      'Other kind of event · 1 subscription',
    ]);
  // The first reason is open.
  await why.getByText('Enable a subscription to get later events.').waitFor();
  const nameOf = (name: string) => why.getByRole('listitem').getByRole('link', { name });
  expect(await nameOf('Off').getAttribute('href')).toBe(`/console/subscriptions/${off}`);
  expect(await nameOf('Messages').count()).toBe(0);
  await why.getByText('Other kind of event').click();
  await why.getByText('This event is cdrCreated.').waitFor();
  await why.getByText('smsdlr · all · whole account').waitFor();
  await nameOf('Messages').waitFor();

  await customer.client.put(`/v1/webhooks/${off}`, { enabled: true });
  await why.getByText('Changed later').click();
  await nameOf('Off').waitFor();
  await why.getByText('The subscription matches now,').waitFor();
});

it('shows the first of many subscriptions with the same reason', async () => {
  const body = { event: 'cdrCreated', resource: 'all', targetUrl: installation.receiver.url };
  for (let n = 0; n < 3; n += 1) {
    const application = await anApplication();
    for (let m = 0; m < 7; m += 1) {
      await customer.client.post(`/v1/applications/${application}/webhooks`, body);
    }
  }
  await installation.report(customer);
  const page = await installation.openAs(customer, `events/${await newestEvent()}`);
  const why = page.getByRole('region', { name: 'Not notified' });
  await why.getByText('· 21 subscriptions').waitFor();
  await expect.poll(() => why.getByRole('listitem').count()).toBe(20);
  await why.getByRole('button', { name: 'Show all 21' }).click();
  await expect.poll(() => why.getByRole('listitem').count()).toBe(21);
});

it('sends a missed event to a subscription that was created later', async () => {
  await installation.report(customer);
  await installation.aSubscription(customer, { name: 'Late' });
  await installation.aSubscription(customer, { name: 'Messages', event: 'smsdlr' });
  const page = await installation.openAs(customer, `events/${await newestEvent()}`);
  const send = page.getByRole('button', { name: 'Send', exact: true });
  await page.getByText('Other kind of event').click();
  await page.getByRole('listitem').filter({ hasText: 'Messages' }).waitFor();
  expect(await send.count()).toBe(1);
  await send.click();
  await page.locator('.heading .pill', { hasText: '1 delivery' }).waitFor();
  await page
    .getByRole('table', { name: 'Deliveries of this event' })
    .getByText('delivered')
    .waitFor();
});

it('tells that the only subscription is for another application', async () => {
  const application = await anApplication();
  const body = { event: 'cdrCreated', resource: 'all', targetUrl: installation.receiver.url };
  await customer.client.post(`/v1/applications/${application}/webhooks`, body);
  await installation.report(customer);
  const page = await installation.openAs(customer, `events/${await newestEvent()}`);
  await page.getByText('This event belongs to no application.').waitFor();
  const why = page.getByRole('region', { name: 'Not notified' });
  const href = await why.getByRole('link', { name: 'Switchboard' }).getAttribute('href');
  expect(href).toBe(`/console/applications/${application}`);
  await page.getByRole('link', { name: 'Create a subscription for the whole account' }).waitFor();
});

it('offers a subscription for the whole account if there is none', async () => {
  await installation.report(customer);
  const page = await installation.openAs(customer, `events/${await newestEvent()}`);
  await page.getByText('There is no subscription.').waitFor();
  const create = page.getByRole('link', { name: 'Create a subscription for the whole account' });
  expect(await create.getAttribute('href')).toBe('/console/subscriptions/new?event=cdrCreated');
});

it('offers a subscription for the application of the event, and then sends it', async () => {
  const application = await anApplication();
  const about = { event: 'cdrRated', resource: 'call', accountId: customer.id };
  const event = { ...about, applicationId: application, data: {} };
  expect((await installation.platform.post('/v1/events', event)).status).toBe(202);
  await installation.aSubscription(customer, { name: 'Records' });
  const id = await newestEvent();
  const page = await installation.openAs(customer, `events/${id}`);
  await page.getByRole('link', { name: 'for the whole account' }).waitFor();
  const name = 'Create a subscription for application Switchboard';
  await page.getByRole('link', { name }).click();
  await page.getByLabel('Target URL').fill(installation.receiver.url);
  expect(await page.getByLabel('Application', { exact: true }).inputValue()).toBe(application);
  expect(await page.getByLabel('Event', { exact: true }).inputValue()).toBe('cdrRated');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByText('The subscription is created.').waitFor();

  const again = await installation.openAs(customer, `events/${id}`);
  await again.getByRole('button', { name: 'Send', exact: true }).click();
  await again.locator('.heading .pill', { hasText: '1 delivery' }).waitFor();
  expect(await again.getByRole('link', { name }).count()).toBe(0);
});

it('shows the subscriptions that were notified, and the data exactly as reported', async () => {
  const script = '<script>document.title="taken"</script>';
  const text = JSON.stringify(`${script}\u202e`.repeat(200));
  const data = `{ "n":98765432109876543210.50, "n": 1e400, "text":${text} }`;
  await installation.aSubscription(customer, { name: script });
  await installation.report(customer, data);
  const { id } = await installation.delivery(customer, 'succeeded');
  const viewport = { width: 360, height: 700 };
  const page = await installation.openAs(customer, `events/${await newestEvent()}`, { viewport });
  await page.locator('.heading .pill', { hasText: '1 delivery' }).waitFor();
  const table = page.getByRole('table', { name: 'Deliveries of this event' });
  await table.getByText('delivered').waitFor();
  expect(await table.getByRole('link').getAttribute('href')).toBe(`/console/deliveries/${id}`);
  const shown = page.getByRole('tree', { name: 'Data' });
  await shown.getByText('98765432109876543210.50').waitFor();
  expect(await shown.innerText()).toContain('{\n  "n": 98765432109876543210.50,\n  "n": 1e400,');
  await page.getByRole('button', { name: 'As sent' }).click();
  expect(await page.locator('pre').textContent()).toBe(data);
  expect(await page.title()).toBe('cdrCreated – Events – Switchhook');
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
});
