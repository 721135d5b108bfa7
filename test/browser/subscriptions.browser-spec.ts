import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConsoleInstallation, type Customer, overflowOf } from '../support/console.js';

let installation: ConsoleInstallation;
let customer: Customer;

beforeAll(async () => {
  installation = await ConsoleInstallation.start();
});
afterAll(() => installation.stop());
beforeEach(async () => {
  customer = await installation.aCustomer();
});
afterEach(() => installation.closePages());

async function anApplication(): Promise<string> {
  const body = { name: 'Shop', voiceUrl: 'https://shop.example.com/voice' };
  const answer = await customer.client.post('/v1/applications', body);
  return answer.json<{ href: string }>().href.split('/').at(-1)!;
}

describe('the list of subscriptions', () => {
  it('includes the subscriptions of applications, filters them, and updates their states live', async () => {
    const application = await anApplication();
    const id = await installation.aSubscription(customer, { name: 'Billing' });
    const { url } = installation.receiver;
    const ofApplication = { name: 'Reports', event: 'smsdlr', resource: 'sms', targetUrl: url };
    await customer.client.post(`/v1/applications/${application}/webhooks`, ofApplication);
    const page = await installation.openAs(customer, 'subscriptions');
    await page.getByText('For the whole account: 1 of 10 subscriptions.').waitFor();
    await page.getByRole('link', { name: /Billing/ }).waitFor();
    await page
      .getByRole('row', { name: /Reports/ })
      .getByText('Shop')
      .waitFor();
    await customer.client.post(`/v1/webhooks/${id}/pause`);
    await page.locator('.pill', { hasText: 'paused' }).waitFor();
    await page.getByLabel('Event', { exact: true }).selectOption('smsdlr');
    await expect.poll(() => page.getByRole('row').count(), { timeout: 10_000 }).toBe(2);
    expect(page.url()).toMatch(/subscriptions\?event=smsdlr$/);
    await page.getByLabel('Application', { exact: true }).selectOption({ label: 'Shop' });
    await page.waitForURL(new RegExp(`applicationId=${application}`));
    await page.getByLabel('Application', { exact: true }).selectOption('whole account');
    await page.getByText('Nothing matches').waitFor();
  });

  it('is filtered by state and by name or target, and sorted by its column headers', async () => {
    const targetUrl = 'https://crm.example.com/hooks';
    const names = { Billing: {}, Archive: { enabled: false }, CRM: { targetUrl } };
    const ids: string[] = [];
    for (const [name, fields] of Object.entries(names)) {
      ids.push(await installation.aSubscription(customer, { name, ...fields }));
    }
    const [billing, archive, crm] = ids as [string, string, string];
    await customer.client.post(`/v1/webhooks/${crm}/pause`);
    await customer.client.post(`/v1/webhooks/${billing}/test`);
    await installation.delivery(customer, 'succeeded');
    await installation.database.query(
      `INSERT INTO attempt_counts (account_id, webhook_id, at, outcome, bin, count)
       SELECT $1, o.id::bigint, now() - interval '1 hour', o.outcome, 0, o.count
       FROM (VALUES ($2, '2xx', 1295), ($2, '5xx', 4), ($3, '2xx', 49), ($3, '5xx', 1)) AS o(id, outcome, count)`,
      [customer.id, billing, archive],
    );
    const page = await installation.openAs(customer, 'subscriptions');
    const first = page.getByRole('row').nth(1);
    const row = page.getByRole('row', { name: /Billing/ });
    await row.locator('.toned.good', { hasText: '99.6%' }).waitFor();
    // It needs no attention, so nothing is red.
    await page
      .getByRole('row', { name: /Archive/ })
      .getByText('98%')
      .waitFor();
    expect(await page.locator('.toned.bad').count()).toBe(0);
    // The test counts, too, some seconds later.
    expect(await row.getByTitle(/^1,29[56] of 1,(299|300) attempts/).count()).toBe(1);
    await row.getByText(/seconds? ago|just now/).waitFor();
    const shown = async () =>
      (await page.locator('.table .body .strong').allTextContents()).join(', ');
    // Not the ones that need no attention.
    expect(await shown()).toBe('CRM, Billing, Archive');

    const name = page.getByRole('columnheader', { name: 'Subscription' });
    await name.getByRole('button').focus();
    await page.keyboard.press('Enter');
    await expect.poll(shown).toBe('Archive, Billing, CRM');
    await page.keyboard.press('Enter');
    await expect.poll(shown).toBe('CRM, Billing, Archive');
    expect(await name.getAttribute('aria-sort')).toBe('descending');
    expect(page.url()).toMatch(/sort=-name$/);
    await page.getByRole('button', { name: 'Last success' }).click();
    await first.getByText('Billing').waitFor();
    // The stream does not send the activity, so the fetched one stays.
    await customer.client.put(`/v1/webhooks/${billing}`, { name: 'Invoices' });
    await first.getByText('Invoices').waitFor();
    await first.getByText('99.6%').waitFor();

    await page.getByLabel('Name or target').pressSequentially('crm.EX');
    await page.getByText('1 of 3 subscriptions.').waitFor();
    expect(await page.getByLabel('Name or target').inputValue()).toBe('crm.EX');
    await page.reload();
    await page.getByText('1 of 3 subscriptions.').waitFor();
    await page.getByLabel('State', { exact: true }).selectOption('disabled');
    await page.getByText('Nothing matches').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('State', { exact: true }).selectOption('disabled');
    await expect.poll(shown).toBe('Archive');
    expect(page.url()).toMatch(/sort=-lastSuccess&state=disabled$/);
  });

  it('is empty at first, and tells what to do', async () => {
    const page = await installation.openAs(customer, 'subscriptions');
    await page.getByText('There are no subscriptions yet.').waitFor();
    await page.getByRole('link', { name: 'Create the first one' }).click();
    await page.getByRole('heading', { name: 'New subscription' }).waitFor();
  });
});

describe('a new subscription', () => {
  it('is created for an application, with faults beside the fields and exact numbers', async () => {
    const application = await anApplication();
    const page = await installation.openAs(customer, 'applications');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('new subscription');
    await page.keyboard.press('Enter');
    await page.getByText('0 of 10 subscriptions.').waitFor();
    await page.getByLabel('Application', { exact: true }).selectOption(application);
    for (const fold of await page.locator('.folded > summary').all()) await fold.click();
    const defaults = page.locator('summary', { hasText: 'Retries and timeout' });
    await defaults.getByText(/^default: \d+ retr(y|ies) over .*, timeout 15 s$/).waitFor();
    expect(await page.getByLabel('Timeout').getAttribute('placeholder')).toBe('15000');
    await page.getByLabel('Target URL').fill('ftp://files.example.com');
    await page.getByLabel('Headers').fill('X-Api-Key: f2c1\nHost: x');
    await page.getByLabel('Retries').fill('10, soon');
    await page.getByLabel('Payload').fill('{"n": ');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Payload must be valid JSON.').waitFor();
    await expect.poll(() => page.locator(':focus').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Payload').fill('{"n": 12345678901234567890}');
    await page.getByRole('button', { name: 'Create' }).click();
    for (const label of ['Target URL', 'Headers', 'Retries']) {
      const field = page.getByLabel(label, { exact: true });
      await expect.poll(() => field.getAttribute('aria-invalid'), { timeout: 10_000 }).toBe('true');
    }
    await page.getByText(/^Target URL must be/).waitFor();
    await page.getByText(/^Headers \(Host\) /).waitFor();
    await page.getByText(/^Retries \(2\) /).waitFor();
    await page.getByLabel('Target URL').fill(installation.receiver.url);
    await page.getByLabel('Headers').fill('X-Api-Key: f2c1');
    await page.getByLabel('Retries').fill('10, 60');
    await page.getByText('2 retries over 1 minute').waitFor();
    await page.getByLabel('all, including future ones').uncheck();
    await page.getByLabel('sms', { exact: true }).check();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.locator('.heading .pill', { hasText: 'untested' }).waitFor();
    const answer = await customer.client.get(`/v1/applications/${application}/webhooks`);
    expect(answer.text).toContain('"payload":{"n": 12345678901234567890}');
    expect(answer.json()).toMatchObject([
      { resource: 'sms', headers: { 'X-Api-Key': '***' }, retry: { schedule: [10, 60] } },
    ]);
  });

  it('keeps its button in view on a phone, and summarizes folded fields', async () => {
    const viewport = { width: 390, height: 700 };
    const page = await installation.openAs(customer, 'subscriptions/new', { viewport });
    const button = page.getByRole('button', { name: 'Create' });
    const end = async () => {
      const { y, height } = (await button.boundingBox())!;
      return y + height;
    };
    await page.getByText('0 of 10 subscriptions.').waitFor();
    expect(await end()).toBeLessThanOrEqual(viewport.height);
    await page.locator('summary', { hasText: 'Headers' }).click();
    await page.getByLabel('Headers').fill('X-A: 1\nX-B: 2');
    await page.locator('summary').getByText('2 headers').waitFor();
    expect(await end()).toBeLessThanOrEqual(viewport.height);
  });

  it('is prevented at the limit', async () => {
    const application = await anApplication();
    for (let n = 0; n < 10; n += 1) await installation.aSubscription(customer);
    const page = await installation.openAs(customer, 'subscriptions/new');
    // Where there is room.
    const level = page.getByLabel('Application', { exact: true });
    await expect.poll(() => level.inputValue()).toBe(application);
    await level.selectOption('');
    const limit = page.getByText('10 of 10 subscriptions');
    await limit.waitFor();
    expect(await limit.allTextContents()).toEqual([
      'The whole account has 10 of 10 subscriptions: choose an application, or delete one.',
    ]);
    expect(await page.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true);
    await page.getByLabel('Application', { exact: true }).selectOption(application);
    await page.getByText('0 of 10 subscriptions.').waitFor();
    expect(await page.getByRole('button', { name: 'Create' }).isEnabled()).toBe(true);
    const { url } = installation.receiver;
    for (let n = 0; n < 10; n += 1) {
      const body = { event: 'smsdlr', resource: 'sms', targetUrl: url };
      await customer.client.post(`/v1/applications/${application}/webhooks`, body);
    }
    await page.reload();
    await page.getByText('This application has 10 of 10 subscriptions').waitFor();
    expect(await page.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true);
    await page.locator('.heading').getByRole('link', { name: 'Subscriptions' }).click();
    await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
  });
});

it('shows hostile names, addresses and payloads as texts', async () => {
  const script = '<img src=x onerror="document.title=\'taken\'">';
  const targetUrl = `${installation.receiver.url}/${'<script>'.repeat(200)}`;
  const payload = { text: `${script}\u202e`.repeat(200) };
  const id = await installation.aSubscription(customer, { name: script, targetUrl, payload });
  const viewport = { width: 360, height: 700 };
  const page = await installation.openAs(customer, 'subscriptions', { viewport });
  await page.getByRole('link', { name: /onerror=/ }).click();
  await page.locator('.heading .pill', { hasText: 'untested' }).waitFor();
  expect(page.url()).toContain(`/subscriptions/${id}`);
  await page.getByRole('link', { name: 'Settings' }).click();
  expect(await page.getByLabel('Payload').inputValue()).toContain(script.slice(0, 10));
  expect(await page.title()).toBe(`${script} – Subscriptions – Switchhook`);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
});
