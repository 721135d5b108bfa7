import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { ConsoleInstallation, type Customer } from '../support/console.js';
import { clientOf } from '../support/http.js';

let installation: ConsoleInstallation;
let operator: Customer;

beforeAll(async () => {
  installation = await ConsoleInstallation.start();
  operator = await installation.anOperator();
});
afterAll(() => installation.stop());
afterEach(() => installation.closePages());

const answerTo = async (username: string, password: string): Promise<number> =>
  (await clientOf(installation.api.url, `${username}:${password}`).get('/v1/session')).status;

const shownPassword = (page: Page): Promise<string> => page.locator('.shown-once code').innerText();

it('creates an account, and shows its generated password once', async () => {
  const page = await installation.openAs(operator, 'accounts');
  await page.getByRole('button', { name: 'New account' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Username').fill('9 lives');
  await dialog.getByLabel('Password').fill('short');
  await page.keyboard.press('Enter');
  await dialog.getByText('username must be a letter').waitFor();
  await dialog.getByText('must have 8 to 200 characters').waitFor();
  expect(await dialog.getByLabel('Username').getAttribute('aria-invalid')).toBe('true');
  await dialog.getByLabel('Username').fill(operator.username);
  await dialog.getByLabel('Password').fill('');
  await page.keyboard.press('Enter');
  await dialog.getByText('username is taken.').waitFor();
  await dialog.getByLabel('Username').fill('partner.one');
  await page.keyboard.press('Enter');
  await page.getByText('it is not shown again').waitFor();
  expect(await answerTo('partner.one', await shownPassword(page))).toBe(200);
  await page.getByRole('table').getByText('partner.one').waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.locator('.shown-once').waitFor({ state: 'detached' });
});

describe('an account', () => {
  it('is locked and unlocked, but not by its own user', async () => {
    const { id, username, password } = await installation.aCustomer();
    const page = await installation.openAs(operator, `accounts/${id}`);
    const press = async (of: Page, name: string) => {
      await of.getByRole('button', { name: 'More actions' }).click();
      await of.getByRole('menuitem', { name }).click();
    };
    await press(page, 'Lock account');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Lock' }).click();
    await page.getByText('locked', { exact: true }).waitFor();
    await eventually(
      () => answerTo(username, password),
      (status) => status === 401,
    );
    await press(page, 'Unlock account');
    await page.getByText('active', { exact: true }).waitFor();
    await eventually(
      () => answerTo(username, password),
      (status) => status === 200,
    );

    const own = await installation.openAs(operator, `accounts/${operator.id}`);
    await press(own, 'Lock account');
    await own.getByRole('dialog').getByRole('button', { name: 'Lock' }).click();
    await own.getByText('You cannot lock yourself.').waitFor();
  });

  it('gets another credential, and loses the old one', async () => {
    const { id, username, password } = await installation.aCustomer();
    const page = await installation.openAs(operator, `accounts/${id}`);
    await page.getByRole('button', { name: 'Add a credential' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Expires').fill('2020-01-31T12:00:00');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByText('must be in the future').waitFor();
    await dialog.getByLabel('Expires').fill('');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByText('it is not shown again').waitFor();
    expect(await answerTo(username, await shownPassword(page))).toBe(200);

    await page.getByRole('button', { name: 'Revoke credential' }).first().click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect
      .poll(() => page.getByRole('button', { name: 'Revoke credential' }).count())
      .toBe(1);
    await eventually(
      () => answerTo(username, password),
      (status) => status === 401,
    );
    expect(await answerTo(username, await shownPassword(page))).toBe(200);
  });
});

it('closes an account whose username was typed, and shows what remains', async () => {
  const { id, username, password } = await installation.aCustomer();
  const page = await installation.openAs(operator, `accounts/${id}`);
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Close account' }).click();
  const dialog = page.getByRole('dialog');
  const close = dialog.getByRole('button', { name: 'Close the account' });
  await dialog.getByLabel('to confirm').fill(`${username}x`);
  expect(await close.isDisabled()).toBe(true);
  await dialog.getByLabel('to confirm').fill(username);
  await close.click();
  await page.getByText('Still stored: 0 events and 0 deliveries.').waitFor();
  expect(await answerTo(username, password)).toBe(401);
});

it('picks an account by its name, and keeps it in the address', async () => {
  const customer = await installation.aCustomer();
  await installation.aSubscription(customer);
  await installation.report(customer);
  await installation.delivery(customer, 'succeeded');
  const other = await installation.aCustomer();

  const page = await installation.openAs(operator, 'deliveries');
  await page.getByText('cdrCreated · call').first().waitFor();
  const picker = page.getByRole('combobox', { name: 'Account' });
  await picker.fill('nobody');
  await page.keyboard.press('Enter');
  await page.getByText('There is no account with this name or id.').waitFor();
  await picker.fill(other.username);
  await page.keyboard.press('Enter');
  await page.getByText('Nothing matches').waitFor();
  expect(page.url()).toMatch(new RegExp(`accountId=${other.id}$`));
  await picker.fill(customer.id);
  await page.keyboard.press('Enter');
  await page.getByText('cdrCreated · call').waitFor();
  await expect.poll(() => picker.inputValue()).toBe(customer.username);
  await page.reload();
  await page.getByText('cdrCreated · call').waitFor();
  await expect.poll(() => picker.inputValue()).toBe(customer.username);
  const address = `/console/deliveries?accountId=${customer.id}`;
  const link = page.getByRole('link', { name: 'Deliveries', exact: true });
  expect(await link.getAttribute('href')).toBe(address);
  await page.getByRole('link', { name: 'Events', exact: true }).click();
  await page.getByText('cdrCreated · call').waitFor();
  await picker.fill(other.username);
  await page.keyboard.press('Enter');
  await page.getByText('Nothing matches').waitFor();
  await page.getByRole('link', { name: 'Audit log', exact: true }).click();
  await expect.poll(() => picker.inputValue()).toBe(other.username);
  await page.getByText(/^([\d,]+ changes?|Nothing matches)/).waitFor();
  const creation = (of: Page) => of.getByRole('row').filter({ hasText: 'Subscription created' });
  expect(await creation(page).count()).toBe(0);
  await picker.fill(customer.username);
  await page.keyboard.press('Enter');
  await creation(page).waitFor();
  await page.getByRole('button', { name: 'Clear the account' }).click();
  await expect.poll(() => page.url()).toMatch(/\/console\/audit$/);

  const account = await installation.openAs(operator, `accounts/${customer.id}`);
  const actions = account.locator('.actions');
  await actions.getByRole('link', { name: 'Events' }).click();
  await account.getByText('cdrCreated · call').waitFor();
  await account.goBack();
  await actions.getByRole('link', { name: 'Audit log' }).click();
  await creation(account).waitFor();
});

it('finds accounts and deliveries in the palette by a pasted id or address', async () => {
  const customer = await installation.aCustomer();
  await installation.aSubscription(customer);
  await installation.report(customer);
  const { href } = await installation.delivery(customer, 'succeeded');
  const page = await installation.openAs(operator, 'accounts');
  await page.getByText(/^[\d,]+ accounts?$/).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.insertText(href);
  await page.keyboard.press('Enter');
  await page.getByText(`${customer.username} · read-only`).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.insertText(customer.id);
  await page.getByRole('option', { name: 'Open this account' }).click();
  await page.getByRole('heading', { name: customer.username }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.insertText(operator.username);
  await page.getByRole('group', { name: 'Accounts' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: operator.username }).waitFor();
});

describe('thousands of accounts', () => {
  beforeAll(async () => {
    await installation.database.query(
      `INSERT INTO users (username, role, status, salt)
       SELECT 'partner-' || n, 'account', 'active', ''::bytea FROM generate_series(1, 3000) n`,
    );
  });
  afterAll(async () => {
    await installation.database.query(`DELETE FROM users WHERE username LIKE 'partner-%'`);
  });

  it('are searched while the user types, and the address keeps the search', async () => {
    const page = await installation.openAs(operator, 'accounts');
    const search = page.getByRole('searchbox', { name: 'Search accounts' });
    await search.fill('Partner-299');
    await page.getByText('11 accounts').waitFor();
    // The exact match comes first.
    const first = page.getByRole('table').getByRole('row').nth(1);
    expect(await first.getByRole('link').innerText()).toBe('partner-299');
    await page.reload();
    await page.getByText('11 accounts').waitFor();
    await search.fill('partner-9999');
    await page.getByText('No account has this name.').waitFor();
    await page.getByRole('link', { name: 'Show all accounts' }).click();
    await page.getByRole('row').filter({ hasText: operator.username }).waitFor();
  });

  it('are searched in the picker of a page, which then shows another account', async () => {
    const page = await installation.openAs(operator, 'overview');
    const rows = page.getByRole('table', { name: 'Accounts' }).getByRole('row');
    await rows.filter({ hasText: operator.username }).waitFor();
    expect(await page.getByRole('combobox').count()).toBe(0);
    await page.getByRole('searchbox', { name: 'Search accounts' }).fill('partner-299');
    await page.getByText('11 accounts').waitFor();
    await rows.filter({ hasText: 'partner-2990' }).click();
    const picker = page.getByRole('combobox', { name: 'Account' });
    await expect.poll(() => picker.inputValue()).toBe('partner-2990');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await page.getByText('Which account?').count()).toBe(0);
    await page.getByRole('button', { name: 'Clear the account' }).click();
    await rows.filter({ hasText: operator.username }).click();
    await expect.poll(() => picker.inputValue()).toBe(operator.username);
    await picker.fill('partner-');
    await page.getByText('3,000 accounts. Type to find one.').waitFor();
    await picker.fill('partner-299');
    const options = page.getByRole('listbox', { name: 'Accounts' }).getByRole('option');
    await expect.poll(() => options.count()).toBe(11);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => picker.inputValue()).toBe('partner-2990');
    await picker.fill('partner-1999');
    await options.first().click();
    await expect.poll(() => picker.inputValue()).toBe('partner-1999');
  });
});
