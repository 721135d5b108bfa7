import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { idOf, type Schemas } from '#libs/client';
import {
  accessibilityFaultsOf,
  changeTheme,
  COLOR_RULES,
  ConsoleInstallation,
  type Customer,
  movesOf,
  logIn,
  overflowOf,
} from '../support/console.js';

let installation: ConsoleInstallation;
let customer: Customer;
let operator: Customer;
let delivery: Schemas['Delivery'];
let application: string;

beforeAll(async () => {
  installation = await ConsoleInstallation.start({ DELIVERY_RETRY_SCHEDULE: '1h' });
  installation.receiver.answering = (_, response) => response.writeHead(500).end('no such hook');
  customer = await installation.aCustomer();
  operator = await installation.anOperator();
  await installation.aSubscription(customer, { filter: { internal: { exists: false } } });
  await installation.report(customer);
  await installation.receiver.until((received) => received.length === 1);
  delivery = await installation.delivery(customer, 'pending');
  const shop = { name: 'Shop', voiceUrl: 'https://shop.example.com/voice' };
  application = idOf((await customer.client.post('/v1/applications', shop)).json());
});
afterAll(() => installation.stop());
afterEach(() => installation.closePages());

/** Each page: its path, what it shows when it is ready, and what to do there first. */
type Pages = [
  name: string,
  path: () => string,
  ready: string | RegExp,
  act?: (page: Page) => Promise<void>,
][];

const PAGES: Pages = [
  ['the overview', () => 'overview', 'Needs attention', openTables],
  ['deliveries', () => 'deliveries', 'cdrCreated · call'],
  ['deliveries without any', () => 'deliveries?state=parked', 'Nothing matches'],
  ['deliveries with a wrong filter', () => 'deliveries?since=x', 'is not a time'],
  ['deliveries to send', () => 'deliveries', 'cdrCreated · call', openSending],
  ['a delivery', () => `deliveries/${delivery.id}`, 'Your server answered 500'],
  ['a delivery that is missing', () => 'deliveries/1', 'There is no such delivery'],
  ['subscriptions', () => 'subscriptions', 'For the whole account: 1 of 10'],
  [
    'a subscription',
    () => `subscriptions/${delivery.webhookId}`,
    'Every recent attempt has failed',
    openMenu,
  ],
  [
    "a subscription's settings",
    () => `subscriptions/${delivery.webhookId}?tab=settings`,
    'Target URL',
    unfoldMore,
  ],
  [
    "a subscription's secret",
    () => `subscriptions/${delivery.webhookId}?tab=secret`,
    'Replace the secret',
    replaceSecret,
  ],
  [
    "a subscription's receiver",
    () => `subscriptions/${delivery.webhookId}?tab=receiver`,
    'Copy the program',
  ],
  [
    'a delivery beside the list',
    () => `deliveries?open=${delivery.id}`,
    'Your server answered 500',
  ],
  [
    'a subscription that is missing',
    () => 'subscriptions/987654321',
    'There is no such subscription',
  ],
  ['a new subscription', () => 'subscriptions/new', '1 of 10 subscriptions.', refuse],
  ['applications', () => 'applications', 'Shop'],
  ['an application', () => `applications/${application}`, '0 of 10 subscriptions.'],
  [
    "an application's settings",
    () => `applications/${application}?tab=settings`,
    'Controls its calls',
  ],
  ['a new application', () => 'applications/new', 'Controls its calls', refuse],
  ['events', () => 'events', 'cdrCreated · call'],
  ['a text to erase', () => 'events', 'cdrCreated · call', press('Erase a text')],
  ['events to export', () => 'events', 'cdrCreated · call', press('Export')],
  [
    'events that were sent to no subscription',
    () => 'events?unmatched=true',
    'Every event was sent',
  ],
  ['an event', () => `events/${delivery.eventId}`, '1 delivery'],
  ['an event that is missing', () => 'events/1', 'There is no such event'],
  ['the audit', () => 'audit?resource=webhook&resourceId=1', /^1 change$/],
  ['the own credentials', () => 'access', 'Add a credential'],
  ['a new own credential', () => 'access', 'Add a credential', press('Add a credential')],
  ['an unknown page', () => 'nowhere/at/all', 'There is no page'],
  ['the palette', () => 'deliveries', 'cdrCreated · call', openPalette],
];

async function openTables(page: Page): Promise<void> {
  await page.locator('.plot canvas').nth(1).waitFor();
  for (const table of await page.getByText('as a table').all()) await table.click();
}

const PAGES_OF_OPERATORS: Pages = [
  ['the installation', () => 'installation', 'Failing targets', unfoldDays],
  ['the load by account', () => 'load', 'Load by account'],
  ['accounts', () => 'accounts', /^[\d,]+ accounts$/],
  ['a new account', () => 'accounts', /^[\d,]+ accounts$/, press('New account')],
  ['an account', () => `accounts/${customer.id}`, 'last used'],
  ['a new credential', () => `accounts/${customer.id}`, 'last used', press('Add a credential')],
  ['locking an account', () => `accounts/${customer.id}`, 'last used', choose('Lock account')],
  ['closing an account', () => `accounts/${customer.id}`, 'last used', choose('Close account')],
  ['accounts that are searched', () => 'accounts?search=customer', '1 account'],
  ['an account that is missing', () => 'accounts/nobody', 'There is no such account'],
  ['an overview without an account', () => 'overview', 'Which account?', searchAccount],
  ["an account's overview", () => `overview?accountId=${customer.id}`, 'Answer time', openTables],
  [
    "an account's deliveries",
    () => `deliveries?accountId=${customer.id}`,
    'cdrCreated · call',
    openPicker,
  ],
  [
    "an account's subscriptions",
    () => `subscriptions?accountId=${customer.id}`,
    'For the whole account: 1 of 10',
  ],
  [
    "another account's subscription",
    () => `subscriptions/${delivery.webhookId}?accountId=${customer.id}&tab=settings`,
    'Target URL',
    unfoldMore,
  ],
  [
    "another account's application",
    () => `applications/${application}?accountId=${customer.id}`,
    '0 of 10 subscriptions.',
  ],
  ["another account's delivery", () => `deliveries/${delivery.id}`, '· read-only'],
];

async function unfoldDays(page: Page): Promise<void> {
  await page.getByText('By day', { exact: true }).click();
  await page.getByText('Stored data').waitFor({ state: 'attached' });
}

function choose(name: string) {
  return async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name }).click();
    await page.getByRole('dialog').waitFor();
  };
}

async function searchAccount(page: Page): Promise<void> {
  await page.getByRole('searchbox', { name: 'Search accounts' }).fill(customer.username);
  await page.getByText('1 account', { exact: true }).waitFor();
}

async function openPicker(page: Page): Promise<void> {
  await page.getByRole('combobox', { name: 'Account' }).click();
  await page.getByRole('option', { name: customer.username }).waitFor();
}

function press(name: string) {
  return async (page: Page): Promise<void> => {
    await page.getByRole('button', { name }).click();
    await page.getByRole('dialog').waitFor();
  };
}

async function openMenu(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).waitFor();
}

async function unfoldMore(page: Page): Promise<void> {
  for (const fold of await page.locator('.folded > summary').all()) await fold.click();
  await page.getByLabel('Payload').waitFor();
}

async function replaceSecret(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Replace the secret' }).click();
  await page.getByRole('dialog').waitFor();
}

async function refuse(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Create' }).click();
  await page.locator('[aria-invalid=true]').first().waitFor();
}

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: 'Log out' }).waitFor();
}

async function openSending(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Send undelivered' }).click();
  await page.getByText('1 delivery: 1 goes now.').waitFor();
}

const ALL = [
  ...PAGES.map((page) => ({ page, user: () => customer })),
  ...PAGES_OF_OPERATORS.map((page) => ({ page, user: () => operator })),
].map(({ page: [name, path, ready, act], user }) => ({ name, path, ready, act, user }));

it.each(ALL)(
  'the page of $name is accessible in both themes, without layout shifts, and fits 360 px',
  async ({ path, ready, act, user }) => {
    const page = await installation.openAs(user(), path(), { colorScheme: 'light' });
    const isReady = async () => {
      await page.getByText(ready).locator('visible=true').first().waitFor();
      await act?.(page);
    };
    await isReady();
    expect(await accessibilityFaultsOf(page)).toEqual([]);
    expect(await movesOf(page)).toEqual([]);
    await changeTheme(page, 'dark');
    expect(await accessibilityFaultsOf(page, COLOR_RULES)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 700 });
    await page.reload();
    await isReady();
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await movesOf(page)).toEqual([]);
  },
);

it.each(['light', 'dark'] as const)(
  'the login is accessible in the %s theme',
  async (colorScheme) => {
    const page = await installation.open('', {
      colorScheme,
      viewport: { width: 360, height: 700 },
    });
    await page.getByLabel('Username').waitFor();
    expect(await accessibilityFaultsOf(page)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  },
);

it('reports a page whose file is missing, instead of reloading forever', async () => {
  const page = await installation.open('deliveries');
  await page.route('**/assets/deliveries-page-*.js', (route) => route.abort());
  await logIn(page, customer);
  await page.getByRole('heading', { name: 'This page does not work' }).waitFor();
  await page.close();
  // The browser reports it, too.
  expect(installation.complaints.splice(0).length).toBeGreaterThan(0);
});
