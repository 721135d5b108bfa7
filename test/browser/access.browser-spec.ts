import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { ConsoleInstallation } from '../support/console.js';

let installation: ConsoleInstallation;

beforeAll(async () => {
  installation = await ConsoleInstallation.start();
});
afterAll(() => installation.stop());
afterEach(() => installation.closePages());

it('a customer adds a credential, whose password is shown once, and revokes the old one', async () => {
  const customer = await installation.aCustomer();
  const page = await installation.openAs(customer, 'access');
  await page.getByRole('button', { name: 'Add a credential' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Dashboard');
  await dialog.getByLabel('Scope').selectOption('read');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await page.getByText('it is not shown again').waitFor();
  await page.getByText('Dashboard').waitFor();
  const list = async () =>
    (await customer.client.get(`/v1/users/${customer.id}/credentials`)).json<
      { name?: string; scope: string }[]
    >();
  expect(await list()).toMatchObject([{ scope: 'manage' }, { name: 'Dashboard', scope: 'read' }]);
  await page.getByRole('button', { name: 'Revoke credential' }).first().click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await dialog.getByText('You cannot revoke your own last').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Revoke credential' }).nth(1).click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(list).toHaveLength(1);
});

it('a customer creates a link, which another browser opens once', async () => {
  const customer = await installation.aCustomer();
  const page = await installation.openAs(customer, 'access');
  await page.getByRole('button', { name: 'Create a link to the console' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Valid for').selectOption('1 hour');
  await dialog.getByRole('button', { name: 'Create' }).click();
  const url = await page.getByRole('status').locator('code').innerText();
  const guest = await installation.open(url.split('/console/')[1]!);
  await guest.getByText(customer.username).waitFor();
  await guest.goto('about:blank');
  await guest.context().clearCookies();
  await guest.goto(url);
  await guest.getByText('The link has been used or has expired.').waitFor();
});

it('a session that may only read offers no change of credentials', async () => {
  const customer = await installation.aCustomer();
  const { json } = await customer.client.post(`/v1/users/${customer.id}/links`, {
    path: '/access',
  });
  const own = async () =>
    (await customer.client.get(`/v1/users/${customer.id}/credentials`)).json<
      { lastUsedAt?: string }[]
    >()[0]!;
  // It is stored a little later.
  await eventually(own, ({ lastUsedAt }) => lastUsedAt !== undefined);
  const page = await installation.open(json<{ url: string }>().url.split('/console/')[1]!);
  await page.getByText('This session may only read.').waitFor();
  await page.getByText('this hour').waitFor();
  expect(await page.getByRole('button', { name: 'Add a credential' }).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Create a link' }).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Revoke' }).count()).toBe(0);
});

it('offers no link in a session that began with one', async () => {
  const customer = await installation.aCustomer();
  const { json } = await customer.client.post(`/v1/users/${customer.id}/links`, {
    path: '/access',
    scope: 'manage',
  });
  const page = await installation.open(json<{ url: string }>().url.split('/console/')[1]!);
  await page.getByRole('button', { name: 'Add a credential' }).waitFor();
  expect(await page.getByRole('button', { name: 'Create a link' }).count()).toBe(0);
});
