import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { idOf } from '#libs/client';
import { ConsoleInstallation, type Customer, overflowOf } from '../support/console.js';

const VOICE = 'https://shop.example.com/voice';

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

async function anApplication(fields: object = {}): Promise<string> {
  const body = { name: 'Shop', voiceUrl: VOICE, ...fields };
  const answer = await customer.client.post('/v1/applications', body);
  return answer.json<{ href: string }>().href.split('/').at(-1)!;
}

it('creates, changes and deletes an application, with faults beside the fields', async () => {
  const page = await installation.openAs(customer, 'applications');
  await page.getByText('There are no applications yet.').waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('new application');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'New application' }).waitFor();
  await page.getByLabel('Voice URL').fill('no address');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByText('name is required.').waitFor();
  expect(await page.getByLabel('Voice URL').getAttribute('aria-invalid')).toBe('true');
  await expect
    .poll(() => page.locator(':focus').getAttribute('aria-invalid'), { timeout: 10_000 })
    .toBe('true');

  await page.getByLabel('Name').fill('Shop');
  await page.getByLabel('Voice URL').fill(VOICE);
  await page.getByLabel('Environment').selectOption({ index: 1 });
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByText('0 of 10 subscriptions.').waitFor();
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByLabel('Messaging URL').fill('https://shop.example.com/sms');
  await page.getByLabel('Voice URL').fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The application is saved.').waitFor();
  const [stored] = (await customer.client.get('/v1/applications')).json<object[]>();
  expect(stored).toMatchObject({ name: 'Shop', messagingUrl: 'https://shop.example.com/sms' });
  expect(stored).not.toHaveProperty('voiceUrl');

  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('There are no applications yet.').waitFor();
});

it('does not overwrite what another editor has changed', async () => {
  const id = await anApplication();
  const page = await installation.openAs(customer, `applications/${id}?tab=settings`);
  await page.getByLabel('Voice URL').fill(`${VOICE}/mine`);
  await customer.client.put(`/v1/applications/${id}`, { name: 'Theirs' });
  await page.getByRole('button', { name: 'Save' }).click();
  await page
    .getByText('Somebody else has changed this application since you began (Name).')
    .waitFor();
  await page.getByRole('button', { name: 'Apply mine on top' }).click();
  expect(await page.getByLabel('Name').inputValue()).toBe('Theirs');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The application is saved.').waitFor();
  const stored = (await customer.client.get(`/v1/applications/${id}`)).json();
  expect(stored).toMatchObject({ name: 'Theirs', voiceUrl: `${VOICE}/mine` });
});

it('is shown by its name wherever it is mentioned, with a link to its page', async () => {
  const id = await anApplication({ name: 'Support line' });
  const body = { event: 'cdrCreated', resource: 'all', targetUrl: installation.receiver.url };
  const path = `/v1/applications/${id}/webhooks`;
  const made = await customer.client.post(path, { ...body, name: 'Billing' });
  const webhook = idOf(made.json());
  const event = { event: 'cdrCreated', resource: 'call', accountId: customer.id, data: {} };
  await installation.platform.post('/v1/events', { ...event, applicationId: id });
  const delivery = await installation.delivery(customer, 'succeeded');

  const page = await installation.openAs(customer, 'events');
  await page.getByRole('row').getByText('Support line').click();
  const facts = page.locator('.facts');
  const hrefOf = (name: string) => facts.getByRole('link', { name }).getAttribute('href');
  expect(await hrefOf('Support line')).toBe(`/console/applications/${id}`);
  await page.goto(`${installation.api.url}/console/deliveries/${delivery.id}`);
  expect(await hrefOf('Support line')).toBe(`/console/applications/${id}`);
  expect(await hrefOf('Billing')).toBe(`/console/subscriptions/${webhook}`);
  await facts.getByRole('link', { name: 'Billing' }).click();
  await page.locator('.about').getByRole('link', { name: 'Support line' }).waitFor();
  await page.goto(`${installation.api.url}/console/subscriptions`);
  await page.getByRole('row').getByText('Support line').waitFor();
});

it('is found in the palette by its name or URL, like subscriptions', async () => {
  const id = await anApplication({ name: 'Support line' });
  const targetUrl = 'https://support.example.com/hook';
  const webhook = await installation.aSubscription(customer, { name: 'Billing', targetUrl });
  const page = await installation.openAs(customer, 'audit');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('support');
  const options = page.getByRole('listbox', { name: 'Found' }).getByRole('option');
  await expect
    .poll(() => options.allTextContents())
    .toEqual([`Support line ${id}Enter`, `Billing ${webhook}Enter`]);
  const groups = page.getByRole('listbox', { name: 'Found' }).getByRole('group');
  await groups
    .nth(0)
    .and(page.getByRole('group', { name: 'Applications' }))
    .waitFor();
  await groups
    .nth(1)
    .and(page.getByRole('group', { name: 'Subscriptions' }))
    .waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Billing' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('cdr-4711');
  await options.getByText('Events with the producer’s id cdr-4711').waitFor();
  await page.getByRole('combobox').fill('xq');
  await page.getByText('Nothing found.').waitFor();
  expect(await options.count()).toBe(0);
  await page.getByRole('combobox').fill('shop.example.com/voice');
  await options.getByText('Support line').waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Support line' }).waitFor();
});

it('shows hostile names and addresses as texts', async () => {
  const script = '<img src=x onerror="document.title=\'taken\'">';
  const voiceUrl = `${VOICE}/${'<script>'.repeat(200)}`;
  const id = await anApplication({ name: script + 'x'.repeat(200), voiceUrl });
  const viewport = { width: 360, height: 700 };
  const page = await installation.openAs(customer, 'applications', { viewport });
  await page.getByText('onerror=').waitFor();
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  await page.getByRole('link', { name: /onerror=/ }).click();
  await page.getByText('0 of 10 subscriptions.').waitFor();
  expect(page.url()).toContain(`/applications/${id}`);
  expect(await page.title()).toBe(`${script}${'x'.repeat(200)} – Applications – Switchhook`);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
});
