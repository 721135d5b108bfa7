import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConsoleInstallation, type Customer, logIn, openUserMenu } from '../support/console.js';

let installation: ConsoleInstallation;
let customer: Customer;
let webhook: string;

beforeAll(async () => {
  installation = await ConsoleInstallation.start();
});
afterAll(() => installation.stop());
beforeEach(async () => {
  customer = await installation.aCustomer();
  webhook = await installation.aSubscription(customer, { name: 'Billing' });
});
afterEach(() => installation.closePages());

const SECRET = 'X-Api-Key: f2c1a0b9';

const nameIn = (page: Page) => page.getByLabel('Name', { exact: true });

const openSettings = () => installation.openAs(customer, `subscriptions/${webhook}?tab=settings`);

const storedName = async () =>
  (await customer.client.get(`/v1/webhooks/${webhook}`)).json<{ name: string }>().name;

/** Types a name and a header without saving. */
async function type(page: Page): Promise<void> {
  await nameIn(page).fill('Typed');
  await page.locator('summary', { hasText: 'Headers' }).click();
  await page.getByLabel('Headers').fill(SECRET);
}

async function isAllThere(page: Page): Promise<void> {
  await expect.poll(() => nameIn(page).inputValue(), { timeout: 10_000 }).toBe('Typed');
  expect(await page.getByLabel('Headers').inputValue()).toBe(SECRET);
}

/** Holds back requests to save, until the returned function is called. */
async function holdSaving(page: Page): Promise<() => void> {
  let proceed = (): void => undefined;
  const held = new Promise<void>((resolve) => (proceed = resolve));
  await page.route(`**/v1/webhooks/${webhook}`, async (route) => {
    if (route.request().method() === 'PUT') await held;
    await route.continue();
  });
  return () => proceed();
}

async function run(page: Page, command: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.keyboard.type(command);
  await page.keyboard.press('Enter');
}

describe('when the session ends while the user types', () => {
  it('keeps the text of a form through a 401, and saves it after the login', async () => {
    const page = await openSettings();
    await type(page);
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Your session has ended.').waitFor();
    await logIn(page, customer);
    await isAllThere(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The subscription is saved.').waitFor();
    await page.getByText('Not saved yet', { exact: true }).waitFor({ state: 'detached' });
    expect(await storedName()).toBe('Typed');
  });

  it('keeps the text in memory alone when the session is revoked', async () => {
    const page = await openSettings();
    await type(page);
    const status = (value: string) =>
      installation.platform.put(`/v1/users/${customer.id}`, { status: value });
    expect((await status('locked')).status).toBe(200);
    await page.getByText('Your session has ended.').waitFor();
    await status('active');
    await logIn(page, customer);
    await isAllThere(page);
    const stores = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state])',
    );
    expect(stores).not.toContain('f2c1a0b9');
    expect(stores).not.toContain('Typed');
  });

  it('hides the text from another user, and drops it for the first one', async () => {
    const page = await installation.openAs(customer, 'subscriptions/new');
    await type(page);
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Your session has ended.').waitFor();
    await logIn(page, await installation.aCustomer());
    await page.getByText('0 of 10 subscriptions.').waitFor();
    expect(await nameIn(page).inputValue()).toBe('');
    expect(await page.getByLabel('Headers').inputValue()).toBe('');
    await openUserMenu(page);
    await page.getByRole('button', { name: 'Log out' }).click();
    await logIn(page, customer);
    await page.getByText('1 of 10 subscriptions.').waitFor();
    expect(await nameIn(page).inputValue()).toBe('');
  });

  it('reopens a dialog with its text', async () => {
    const page = await installation.openAs(await installation.anOperator(), 'accounts');
    const operator = { username: await page.locator('.who bdi').innerText(), password: '' };
    await page.getByRole('button', { name: 'New account' }).click();
    await page.getByRole('dialog').getByLabel('Username').fill('partner.two');
    await page.getByRole('dialog').getByLabel('Role').selectOption('platform');
    await page.context().clearCookies();
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByText('Your session has ended.').waitFor();
    await logIn(page, { ...operator, password: `${operator.username}-secret` });
    const dialog = page.getByRole('dialog', { name: 'New account' });
    await dialog.waitFor();
    expect(await dialog.getByLabel('Username').inputValue()).toBe('partner.two');
    expect(await dialog.getByLabel('Role').inputValue()).toBe('platform');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByText('it is not shown again').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });
});

describe('when a page with unsaved changes is left', () => {
  it('keeps them when left by tab, link, palette or back button, and says so', async () => {
    const page = await openSettings();
    await type(page);
    await page.getByRole('link', { name: 'Signing secret' }).click();
    await page.getByText('This browser tab keeps them').waitFor();
    await page.getByRole('link', { name: 'Settings (not saved yet)' }).click();
    await isAllThere(page);
    await page.getByRole('link', { name: 'Applications', exact: true }).click();
    await page.getByText('There are no applications yet.').waitFor();
    await page.goBack();
    await isAllThere(page);
    await run(page, 'audit');
    await page.getByRole('heading', { name: 'Audit' }).waitFor();
    await page.goBack();
    await isAllThere(page);
    await page.getByRole('button', { name: 'Discard changes' }).click();
    expect(await nameIn(page).inputValue()).toBe('Billing');
    expect(await page.getByRole('link', { name: 'not saved yet' }).count()).toBe(0);
    expect(await storedName()).toBe('Billing');
  });

  it("still does not overwrite another editor's changes", async () => {
    const page = await openSettings();
    await nameIn(page).fill('Typed');
    await page.getByRole('link', { name: 'Signing secret' }).click();
    await customer.client.put(`/v1/webhooks/${webhook}`, { name: 'Theirs' });
    await page.getByRole('heading', { name: 'Theirs' }).waitFor();
    await page.getByRole('link', { name: 'Settings (not saved yet)' }).click();
    await page.getByText('Somebody else has changed this subscription').waitFor();
    expect(await nameIn(page).inputValue()).toBe('Typed');
  });

  it('keeps no text of a form that was saved while its tab was left', async () => {
    const page = await openSettings();
    await nameIn(page).fill('Typed');
    const proceed = await holdSaving(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Signing secret' }).click();
    proceed();
    await page.getByText('The subscription is saved.').waitFor();
    await page.getByRole('link', { name: 'not saved yet' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Settings' }).click();
    expect(await nameIn(page).inputValue()).toBe('Typed');
    expect(await page.getByText('Somebody else has changed').count()).toBe(0);
  });

  it('keeps what was there before if it is set back while the form is saved', async () => {
    const page = await openSettings();
    await nameIn(page).fill('Typed');
    const proceed = await holdSaving(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await nameIn(page).fill('Billing');
    proceed();
    await page.getByText('The subscription is saved.').waitFor();
    await page.getByText('Not saved yet', { exact: true }).waitFor();
    expect(await nameIn(page).inputValue()).toBe('Billing');
  });

  it('asks before the browser tab is closed, but not without changes', async () => {
    const page = await openSettings();
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      void dialog.dismiss();
    });
    await nameIn(page).click();
    await page.keyboard.type('!');
    await page.close({ runBeforeUnload: true });
    await expect.poll(() => asked, { timeout: 10_000 }).toEqual(['beforeunload']);
    await page.getByRole('button', { name: 'Discard changes' }).click();
    const closed = page.waitForEvent('close');
    await page.close({ runBeforeUnload: true });
    await closed;
    expect(asked).toHaveLength(1);
  });
});

describe('a dialog with unsaved text', () => {
  it('asks when it is closed with Escape or Cancel', async () => {
    const page = await installation.openAs(await installation.anOperator(), 'accounts');
    const dialog = page.getByRole('dialog', { name: 'New account' });
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await page.getByRole('button', { name: 'New account' }).click();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'New account' }).click();
    await dialog.getByLabel('Username').fill('partner.three');
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect(await dialog.getByLabel('Username').inputValue()).toBe('partner.three');
    // Pressing Escape repeatedly makes the browser close it without asking.
    for (let n = 0; n < 6; n += 1) await page.keyboard.press('Escape');
    await dialog.waitFor();
    expect(await dialog.getByLabel('Username').inputValue()).toBe('partner.three');
    if (!(await question.isVisible())) {
      await dialog.getByRole('button', { name: 'Cancel' }).click();
    }
    await question.getByRole('button', { name: 'Leave' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New account' }).click();
    expect(await dialog.getByLabel('Username').inputValue()).toBe('');
  });
});
