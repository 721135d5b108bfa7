import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
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

/** A time for an input, in the zone of the browser, which is ours. */
function localInput(time: Date): string {
  const offsetMs = time.getTimezoneOffset() * 60_000;
  return new Date(time.getTime() - offsetMs).toISOString().slice(0, 19);
}

async function reportMessage(): Promise<void> {
  const event = { event: 'smsdlr', resource: 'sms', accountId: customer.id, data: {} };
  expect((await installation.platform.post('/v1/events', event)).status).toBe(202);
}

describe('what a subscription has missed', () => {
  it('is listed, counted, and sent by one request', async () => {
    await installation.report(customer);
    await installation.report(customer);
    await reportMessage();
    const id = await installation.aSubscription(customer, { name: 'Late' });
    const before = installation.receiver.received.length;
    const page = await installation.openAs(customer, `subscriptions/${id}`);
    await page.getByRole('link', { name: 'Missed events' }).click();
    await page.getByText('2 events', { exact: true }).waitFor();
    expect(await page.getByLabel('Missed by', { exact: true }).inputValue()).toBe(id);

    await page.getByRole('button', { name: 'Send missed events' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send missed events' });
    await dialog.getByText('2 missed events: all 2 go now.').waitFor();
    await dialog.getByText('Late').waitFor();
    expect(await accessibilityFaultsOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Send 2 missed events' }).click();
    await dialog.getByText('2 of 2 started').waitFor();
    await dialog.getByText('It is complete.').waitFor();
    await installation.receiver.until((received) => received.length === before + 2);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByText('This subscription has missed nothing.').waitFor();
    const progress = page.getByRole('list', { name: 'Sent together' });
    await progress.getByText('2 of 2 started').waitFor();
  });

  it('is sent from the chosen time on, once the other filters are removed', async () => {
    await reportMessage();
    await installation.aSubscription(customer, { name: 'Texts', event: 'smsdlr' });
    // With room for all filters.
    const viewport = { width: 1_440, height: 900 };
    const path = 'events?unmatched=true&resource=call';
    const page = await installation.openAs(customer, path, { viewport });
    await page.getByText('choose it under “Missed by”').waitFor();
    await page.getByLabel('Missed by', { exact: true }).selectOption({ label: 'Texts' });
    await page.getByText('Nothing matches').waitFor();
    const reason = page.getByText('to send these.');
    expect(await reason.innerText()).toBe(
      'Remove the filters “About” and “Notified” to send these.',
    );
    const send = page.getByRole('button', { name: 'Send missed events' });
    expect(await send.isDisabled()).toBe(true);
    expect(await accessibilityFaultsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove the filter About' }).click();
    await page.getByRole('button', { name: 'Remove the filter Notified' }).click();
    await send.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1 missed event: 1 goes now.').waitFor();
    await dialog.getByLabel('Accepted since').fill(localInput(new Date(Date.now() + 60_000)));
    await dialog.getByText('must be in the past').waitFor();
  });

  it('cannot be sent while the subscription is disabled, which the dialog tells beforehand', async () => {
    await installation.report(customer);
    const id = await installation.aSubscription(customer, { enabled: false });
    const page = await installation.openAs(customer, `events?missedBy=${id}`);
    await page.getByRole('button', { name: 'Send missed events' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Nothing can be sent, because the subscription is disabled').waitFor();
    expect(await dialog.getByRole('alert').count()).toBe(0);
    expect(await dialog.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    expect(await accessibilityFaultsOf(page)).toEqual([]);
    await dialog.getByRole('link', { name: 'Enable it first' }).click();
    await page.getByRole('button', { name: 'Enable' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/subscriptions/${id}`);
  });

  it('cannot be sent by an operator', async () => {
    await installation.report(customer);
    const id = await installation.aSubscription(customer);
    const operator = await installation.anOperator();
    const path = `events?accountId=${customer.id}&missedBy=${id}`;
    const page = await installation.openAs(operator, path);
    await page.getByText('1 event', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: /^Send/ }).count()).toBe(0);
  });
});

describe('after a subscription is created', () => {
  async function create(address: string, kinds: readonly string[] = []): Promise<Page> {
    const page = await installation.openAs(customer, `subscriptions/new?${address}`);
    await page.getByLabel('Target URL').fill(installation.receiver.url);
    if (kinds.length > 0) await page.getByLabel('all, including').uncheck();
    for (const kind of kinds) await page.getByLabel(kind, { exact: true }).check();
    const read = page.waitForResponse((response) => response.url().includes('missedBy='));
    await page.getByRole('button', { name: 'Create' }).click();
    await (await read).finished();
    await page.locator('.heading .pill', { hasText: 'untested' }).waitFor();
    return page;
  }

  it('its page tells how many earlier events match it, and links to them', async () => {
    await reportMessage();
    await reportMessage();
    await installation.report(customer);
    const page = await create('event=smsdlr');
    await page.getByText('2 earlier events match it.').waitFor();
    expect(await accessibilityFaultsOf(page)).toEqual([]);
    await page.getByRole('link', { name: 'See them, and send them' }).click();
    await page.getByText('2 events', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Send missed events' }).click();
    await page.getByRole('dialog').getByText('2 missed events: all 2 go now.').waitFor();
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
    await page.getByText('20 or more earlier events match it.').waitFor();

    const ofOthers = await create('event=cdrCreated', ['sms', 'transcription']);
    expect(await ofOthers.getByText('earlier event').count()).toBe(0);
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
    await page.getByText('51 events', { exact: true }).waitFor();
    expect(await page.getByLabel('Notified', { exact: true }).inputValue()).toBe('true');
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
    await page.getByText('No subscriptions', { exact: true }).waitFor();
    expect(await told(page).count()).toBe(0);
  });
});
