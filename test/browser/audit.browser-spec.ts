import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { accessibilityFaultsOf, ConsoleInstallation, type Customer } from '../support/console.js';

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

it('lists changes, newest first, and the changes of one resource', async () => {
  const webhook = await installation.aSubscription(customer);
  await installation.aSubscription(customer);
  await customer.client.put(`/v1/webhooks/${webhook}`, { name: 'Billing', enabled: false });
  const page = await installation.openAs(customer, 'audit');
  await page.getByRole('row').nth(1).getByText('Logged in to the console').waitFor();
  const first = page.getByRole('row').nth(2);
  await first.getByText('Subscription changed').waitFor();
  await first.getByText(/^(name, enabled|enabled, name)$/).waitFor();
  await first.getByText(customer.username).waitFor();
  const thing = first.getByRole('link', { name: 'Billing' });
  expect(await thing.getAttribute('href')).toBe(`/console/subscriptions/${webhook}`);

  await first.getByRole('link').first().click();
  await page.getByText(`The changes of subscription ${webhook}.`).waitFor();
  await page.getByText('2 changes', { exact: true }).waitFor();
  expect(page.url()).toMatch(new RegExp(`audit\\?resource=webhook&resourceId=${webhook}$`));
  const open = page.getByRole('link', { name: 'Open it' });
  expect(await open.getAttribute('href')).toBe(`/console/subscriptions/${webhook}`);

  await page.getByLabel('Change', { exact: true }).selectOption({ label: 'Subscription created' });
  await page.getByText('1 change', { exact: true }).waitFor();
  expect(page.url()).toMatch(/action=webhook\.create/);
  await page.goBack();
  await page.getByText('2 changes', { exact: true }).waitFor();
});

it('loads further changes as the end comes near', async () => {
  await installation.database.query(
    `INSERT INTO audit (id, created_at, account_id, user_id, actor, action, resource_id, fields)
     SELECT new_uuid(now(), n), now(), $1, $1, $2, 'delivery.redeliver', n::text, '{}'
     FROM generate_series(1, 500) n`,
    [customer.id, customer.username],
  );
  const page = await installation.openAs(customer, 'audit?action=delivery.redeliver');
  const rows = page.getByRole('table', { name: 'Changes' });
  await expect
    .poll(
      async () => {
        await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
        return rows.getAttribute('aria-rowcount');
      },
      { timeout: 20_000, interval: 50 },
    )
    .toBe('501');
  await page.getByText('500 changes', { exact: true }).waitFor();
});

it('offers to start a search while its text is new', async () => {
  const page = await installation.openAs(customer, 'audit');
  const field = page.getByRole('search').getByLabel('Id of the resource');
  const start = page.getByRole('search').getByRole('button', { name: 'Search with Enter' });
  expect(await start.count()).toBe(0);
  await field.fill('4711');
  expect(await accessibilityFaultsOf(page)).toEqual([]);
  await start.click();
  await page.getByText('Nothing matches').waitFor();
  expect(page.url()).toMatch(/audit\?resourceId=4711$/);
  expect(await field.inputValue()).toBe('4711');
  expect(await start.count()).toBe(0);
});

it('names wrong filters by their labels', async () => {
  const page = await installation.openAs(customer, 'audit?since=yesterday&webhookId=x');
  await page.getByText('Since: “yesterday” is not a time.').waitFor();
  await page.getByText('The address has a filter that does not work here: webhookId.').waitFor();
  await page.goto(`${installation.api.url}/console/deliveries?webhookId=x`);
  await page.getByText('Subscription: “x” is not one of the choices.').waitFor();
});

it('shows hostile filters as text', async () => {
  const script = '<img src=x onerror="document.title=\'taken\'">\u202e';
  const hostile = encodeURIComponent(script + 'x'.repeat(2_000));
  const page = await installation.openAs(customer, `audit?resource=${hostile}`);
  await page.getByText('is not one of the choices.').waitFor();
  await page.goto(`${installation.api.url}/console/audit?resource=webhook&resourceId=${hostile}`);
  await page.getByText('Nothing matches').waitFor();
  await page.getByText('The changes of subscription <img').waitFor();
  expect(await page.title()).toBe('Audit log – Switchhook');
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(1_200);
});
