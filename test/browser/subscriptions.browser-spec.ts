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
  it('has those of applications, filters them, and follows their states', async () => {
    const application = await anApplication();
    const id = await installation.aSubscription(customer, { name: 'Billing' });
    const { url } = installation.receiver;
    const ofApplication = { name: 'Reports', event: 'smsdlr', resource: 'sms', targetUrl: url };
    await customer.client.post(`/v1/applications/${application}/webhooks`, ofApplication);
    const page = await installation.openAs(customer, 'subscriptions');
    await page.getByText('For the whole account: 1 of 10 subscriptions.').waitFor();
    await page.getByRole('link', { name: /Billing/ }).waitFor();
    await page.getByText(`application Shop (${application})`).waitFor();
    await customer.client.post(`/v1/webhooks/${id}/pause`);
    await page.locator('.pill', { hasText: 'paused' }).waitFor();
    await page.getByLabel('Event', { exact: true }).selectOption('smsdlr');
    await expect.poll(() => page.getByRole('row').count(), { timeout: 10_000 }).toBe(2);
    expect(page.url()).toMatch(/subscriptions\?event=smsdlr$/);
    await page.getByLabel('Application', { exact: true }).selectOption({ label: 'Shop' });
    await page.waitForURL(new RegExp(`applicationId=${application}`));
    await page.goto(`${installation.api.url}/console/subscriptions?applicationId=987654321`);
    await page.getByText('There is no such application.').waitFor();
  });

  it('is empty at first, and says what to do', async () => {
    const page = await installation.openAs(customer, 'subscriptions');
    await page.getByText('There are no subscriptions yet.').waitFor();
    await page.getByRole('link', { name: 'Create the first one' }).click();
    await page.getByRole('heading', { name: 'New subscription' }).waitFor();
  });
});

describe('a new subscription', () => {
  it('is made for an application, with faults beside the fields and numbers unharmed', async () => {
    const application = await anApplication();
    const page = await installation.openAs(customer, 'applications');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('new subscription');
    await page.keyboard.press('Enter');
    await page.getByText('0 of 10 subscriptions.').waitFor();
    await page.getByLabel('Application', { exact: true }).selectOption(application);
    for (const fold of await page.locator('.folded > summary').all()) await fold.click();
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
    for (const kind of ['call', 'transcription']) await page.getByLabel(kind).uncheck();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.locator('.heading .pill', { hasText: 'healthy' }).waitFor();
    const answer = await customer.client.get(`/v1/applications/${application}/webhooks`);
    expect(answer.text).toContain('"payload":{"n": 12345678901234567890}');
    expect(answer.json()).toMatchObject([
      { resource: 'sms', headers: { 'X-Api-Key': '***' }, retry: { schedule: [10, 60] } },
    ]);
  });

  it('keeps its button in view on a phone, and summarizes what is folded', async () => {
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

  it('is refused room before the limit is hit', async () => {
    const application = await anApplication();
    for (let n = 0; n < 10; n += 1) await installation.aSubscription(customer);
    const page = await installation.openAs(customer, 'subscriptions/new');
    await page.getByText('10 of 10 subscriptions: that is the limit.').waitFor();
    expect(await page.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true);
    await page.getByLabel('Application', { exact: true }).selectOption(application);
    await page.getByText('0 of 10 subscriptions.').waitFor();
    expect(await page.getByRole('button', { name: 'Create' }).isEnabled()).toBe(true);
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
  await page.locator('.heading .pill', { hasText: 'healthy' }).waitFor();
  expect(page.url()).toContain(`/subscriptions/${id}`);
  await page.getByRole('link', { name: 'Settings' }).click();
  expect(await page.getByLabel('Payload').inputValue()).toContain(script.slice(0, 10));
  expect(await page.title()).toBe(`${script} – Subscriptions – Switchhook`);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
});
