import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { accessibilityFaultsOf, ConsoleInstallation, type Customer } from '../support/console.js';

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

/** @returns the ids of all events, newest first */
async function eventIds(): Promise<string[]> {
  const answer = await customer.client.get('/v1/events');
  return answer.json<Schemas['Event'][]>().map(({ id }) => id);
}

async function reportMessage(): Promise<void> {
  const event = { event: 'smsdlr', resource: 'sms', accountId: customer.id, data: {} };
  expect((await installation.platform.post('/v1/events', event)).status).toBe(202);
}

describe('the selected events', () => {
  const isSending = /\/v1\/events\/[^/]+\/deliveries$/;

  /** Opens the list, selects all of these events, and asks to send them. */
  async function selectAll(count: number): Promise<Page> {
    const page = await installation.openAs(customer, 'events?unmatched=true');
    await page.getByText('That is ').waitFor();
    await page.getByRole('checkbox', { name: 'Select all shown' }).check();
    await page.getByRole('button', { name: `Send ${count} selected` }).click();
    return page;
  }
  const dialogOn = (page: Page) => page.getByRole('dialog', { name: 'Send the selected events' });

  it('are sent to the chosen subscription, except those that it does not cover', async () => {
    await installation.report(customer);
    await installation.report(customer);
    await reportMessage();
    const [, sentBefore] = await eventIds();
    await installation.aSubscription(customer, { name: 'Off', enabled: false });
    await installation.aSubscription(customer, { name: 'Texts', event: 'smsdlr' });
    const webhookId = await installation.aSubscription(customer, { name: 'Late' });

    const page = await selectAll(3);
    await customer.client.post(`/v1/events/${sentBefore}/deliveries`, { webhookId });
    const dialog = dialogOn(page);
    const subscription = dialog.getByLabel('To the subscription');
    const { url } = installation.receiver;
    await dialog.getByText('It is for 2 of the 3 selected events.').waitFor();
    expect(await subscription.getByRole('option').allInnerTexts()).toEqual([
      `Late (${url})`,
      `Texts (${url})`,
    ]);
    expect(await accessibilityFaultsOf(page)).toEqual([]);
    await subscription.selectOption(`Texts (${url})`);
    await dialog.getByText('It is for 1 of the 3 selected events.').waitFor();
    await subscription.selectOption(`Late (${url})`);
    await dialog.getByRole('button', { name: 'Send 2 events' }).click();
    await dialog.getByText('1 event is being sent.').waitFor();
    await dialog.getByText('1 event had already been sent to it').waitFor();
    const deliveries = dialog.getByRole('link', { name: 'Deliveries of this subscription' });
    expect(await deliveries.getAttribute('href')).toMatch(`/deliveries?webhookId=${webhookId}`);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Send 1 selected' }).waitFor();
    await page.getByText('That is the only one.').waitFor();
    await installation.delivery(customer, 'succeeded');
  });

  it('continue when the rate limit allows it, and refusals are grouped by reason', async () => {
    await installation.report(customer);
    await installation.report(customer);
    const webhook = await installation.aSubscription(customer);
    const page = await selectAll(2);
    const dialog = dialogOn(page);
    const send = dialog.getByRole('button', { name: 'Send 2 events' });
    await send.waitFor();
    await customer.client.put(`/v1/webhooks/${webhook}`, { enabled: false });
    const headers = { 'Retry-After': '1' };
    await page.route(isSending, (route) => route.fulfill({ status: 429, headers }), { times: 1 });
    await send.click();
    await dialog.getByText('reached its rate limit. Sending continues in 1 s.').waitFor();
    await dialog.getByText('2 events were refused. The webhook subscription is').waitFor();
  });

  it('stay selected when the user stops, or when the server is down', async () => {
    await installation.report(customer);
    await installation.report(customer);
    await installation.aSubscription(customer);
    const page = await selectAll(2);
    const dialog = dialogOn(page);
    const headers = { 'Retry-After': '600' };
    await page.route(isSending, (route) => route.fulfill({ status: 429, headers }), { times: 1 });
    await dialog.getByRole('button', { name: 'Send 2 events' }).click();
    await dialog.getByText('Sending continues in 600 s.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.getByText('2 events are not sent yet and stay selected.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();

    await page.route(isSending, () => undefined, { times: 1 });
    await page.getByRole('button', { name: 'Send 2 selected' }).click();
    await dialog.getByRole('button', { name: 'Send 2 events' }).click();
    await dialog.getByText('Sending event 1 of 2').waitFor();
    await dialog.getByRole('button', { name: 'Stop' }).click();
    await dialog.getByText('2 events are not sent yet and stay selected.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();

    await page.route(isSending, (route) => route.abort(), { times: 1 });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('send the selected');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Send 2 events' }).click();
    await dialog.getByText('The server did not answer. Try again').waitFor();
    await dialog.getByText('2 events are not sent yet and stay selected.').waitFor();
  });

  it('cannot be selected by an operator', async () => {
    await installation.report(customer);
    const operator = await installation.anOperator();
    const page = await installation.openAs(operator, `events?accountId=${customer.id}`);
    await page.getByText('That is the only one.').waitFor();
    expect(await page.getByRole('checkbox').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Send' }).count()).toBe(0);
  });
});

describe('after a subscription is created', () => {
  async function create(address: string, kinds: readonly string[] = []): Promise<Page> {
    const page = await installation.openAs(customer, `subscriptions/new?${address}`);
    await page.getByLabel('Target URL').fill(installation.receiver.url);
    if (kinds.length > 0) await page.getByLabel('all, including').uncheck();
    for (const kind of kinds) await page.getByLabel(kind, { exact: true }).check();
    const read = page.waitForResponse((response) => response.url().includes('unmatched=true'));
    await page.getByRole('button', { name: 'Create' }).click();
    await (await read).finished();
    await page.locator('.heading .pill', { hasText: 'healthy' }).waitFor();
    return page;
  }

  it('its page tells how many earlier events reached no subscription, and links to them', async () => {
    await reportMessage();
    await reportMessage();
    await installation.report(customer);
    const page = await create('event=smsdlr');
    await page.getByText('2 earlier events reached no subscription').waitFor();
    expect(await accessibilityFaultsOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'look at them and send them' }).click();
    await page.getByText('That is all: 2 events.').waitFor();
    expect(await page.getByLabel('Told to', { exact: true }).inputValue()).toBe('true');
    await page.getByRole('checkbox', { name: 'Select all shown' }).check();
    await page.getByRole('button', { name: 'Send 2 selected' }).click();
    await page.getByRole('dialog').getByText('It is for every selected event.').waitFor();
  });

  it('counts one page of them, and only those that it covers', async () => {
    const application = await customer.client.post('/v1/applications', {
      name: 'Switchboard',
      voiceUrl: 'http://voice.example/',
    });
    const applicationId = application.json<{ href: string }>().href.split('/').at(-1)!;
    const event = { event: 'cdrCreated', resource: 'call', accountId: customer.id, data: {} };
    const events = Array<object>(21).fill({ ...event, applicationId });
    expect((await installation.platform.post('/v1/events/batch', { events })).status).toBe(202);
    const page = await create(`event=cdrCreated&applicationId=${applicationId}`);
    await page.getByText('20 or more earlier events reached no subscription').waitFor();
    const link = page.getByRole('link', { name: 'look at them and send them' });
    expect(await link.getAttribute('href')).toContain(`applicationId=${applicationId}`);

    const ofOthers = await create('event=cdrCreated', ['sms', 'transcription']);
    expect(await ofOthers.getByText('reached no subscription').count()).toBe(0);
  });
});

describe('the overview', () => {
  const told = (page: Page) => page.getByText('reached no subscription since');

  it('tells how many events of the time range reached no subscription, and links to them', async () => {
    await reportMessage();
    await installation.aSubscription(customer);
    await installation.report(customer);
    await installation.delivery(customer, 'succeeded');
    const page = await installation.openAs(customer, 'overview');
    await page.getByText('1 event has reached no subscription since').waitFor();
    expect(await accessibilityFaultsOf(page)).toEqual([]);

    const event = { event: 'smsdlr', resource: 'sms', accountId: customer.id, data: {} };
    const events = Array<object>(50).fill(event);
    expect((await installation.platform.post('/v1/events/batch', { events })).status).toBe(202);
    await page.getByRole('link', { name: '7 d' }).click();
    await page.getByText('50 or more events have reached no subscription since').waitFor();
    const missed = page.getByRole('link', { name: '50 or more events' });
    // The hour that was shown before may have been read again.
    const ageMs = async () => {
      const { searchParams } = new URL((await missed.getAttribute('href'))!, page.url());
      return Date.now() - Date.parse(searchParams.get('since')!);
    };
    await eventually(ageMs, (ms) => ms > 6 * 86_400_000);
    await missed.click();
    await page.getByText('That is all: 51 events.').waitFor();
    expect(await page.getByLabel('Told to', { exact: true }).inputValue()).toBe('true');
    const since = new URL(page.url()).searchParams.get('since');
    expect(Date.now() - Date.parse(since!)).toBeGreaterThan(6 * 86_400_000);
  });

  it('does not mention them to an account without a subscription', async () => {
    const webhook = await installation.aSubscription(customer);
    await installation.report(customer);
    await installation.delivery(customer, 'succeeded');
    await reportMessage();
    const page = await installation.openAs(customer, 'overview');
    await told(page).waitFor();
    await customer.client.delete(`/v1/webhooks/${webhook}`);
    await page.reload();
    await page.getByText('no subscriptions', { exact: true }).waitFor();
    expect(await told(page).count()).toBe(0);
  });
});
