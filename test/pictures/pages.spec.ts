import { copyFile, mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { VERSION } from '#libs/runtime/config';
import { createUser } from '../support/accounts.js';
import { startBrowser } from '../support/browser.js';
import { logIn } from '../support/console.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { apiInProcess, type Running } from '../support/in-process.js';
import { realisticInstallation } from './realistic.js';

/**
 * `npm run console:pictures` takes pictures of every page into `dist/pictures`, and updates those of the documentation.
 */

const DOCS = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const IN_DOCS = ['overview', 'deliveries-open', 'event', 'subscription', 'failing', 'installation'];

const DIR =
  process.env['PICTURES_DIR'] ?? fileURLToPath(new URL('../../dist/pictures/', import.meta.url));

const SIZES = [
  { width: 1440, height: 900 },
  { width: 1280, height: 720 },
  { width: 390, height: 844 },
] as const;

let database: TestDatabase;
let api: Running;
let browser: Browser;
let account: string;
let ids: { failing: string; delivery: string; event: string; webhook: string; application: string };

beforeAll(async () => {
  database = await createTestDatabase();
  account = await realisticInstallation(database);
  await createUser(database, 'switch', 'platform');
  await database.query(
    `INSERT INTO processes (id, kind, version, in_flight, cpu_percent, memory_bytes, started_at)
     VALUES
       ('worker-1:7:a1b2c3', 'worker', '${VERSION}', 40, 38, 176e6, now() - interval '2 days'),
       ('worker-2:7:b2c3d4', 'worker', '${VERSION}', 31, 35, 171e6, now() - interval '2 days'),
       ('api-1:7:d4e5f6', 'api', '${VERSION}', 8, 24, 168e6, now() - interval '2 days'),
       ('api-2:7:c3d4e5', 'api', '${VERSION}', 9, 22, 164e6, now() - interval '2 days')`,
  );
  // The pictures do not show the process that takes them, its logins and reads.
  await database.query(
    `CREATE FUNCTION leave_out() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
  );
  for (const [table, what] of [
    ['processes', `NEW.id NOT LIKE '%-_:7:%'`],
    ['audit', `NEW.action ~ '^session.create$|list_|show$'`],
  ] as const) {
    await database.query(
      `CREATE TRIGGER a_leave_out BEFORE INSERT ON ${table}
       FOR EACH ROW WHEN (${what}) EXECUTE FUNCTION leave_out()`,
    );
  }
  api = await apiInProcess({ DATABASE_URL: database.url });
  browser = await startBrowser();
  const idOf = async (table: string, condition: string) =>
    (await database.query<{ id: string }>(`SELECT id FROM ${table} WHERE ${condition} LIMIT 1`))[0]!
      .id;
  // The newest one, so that its row is among the first.
  const failing = `webhook_id = (SELECT id FROM webhooks WHERE name LIKE 'Down since%') AND attempts > 0 ORDER BY id DESC`;
  ids = {
    delivery: await idOf('deliveries', failing),
    event: await idOf('events', `id = (SELECT event_id FROM deliveries WHERE ${failing} LIMIT 1)`),
    webhook: await idOf('webhooks', `name LIKE 'CRM%'`),
    failing: await idOf('webhooks', `name = 'Data warehouse'`),
    application: await idOf('applications', `name = 'Shop'`),
  };
  await mkdir(DIR, { recursive: true });
});
afterAll(async () => {
  await browser.close();
  await api.stop();
  await database.drop();
});

type Shot = [
  name: string,
  path: () => string,
  ready: string,
  act?: (page: Page) => Promise<unknown>,
];

const CUSTOMER: Shot[] = [
  [
    'overview',
    () => 'overview',
    'Needs attention',
    (page) => page.locator('.plot canvas').nth(1).waitFor(),
  ],
  ['deliveries', () => 'deliveries', 'delivered'],
  ['deliveries-open', () => `deliveries?open=${ids.delivery}`, 'webhook-id'],
  ['delivery', () => `deliveries/${ids.delivery}`, 'webhook-id'],
  ['events', () => 'events', 'cdrCreated · call'],
  ['event', () => `events/${ids.event}`, 'callId'],
  ['subscriptions', () => 'subscriptions', 'Billing'],
  [
    'subscription',
    () => `subscriptions/${ids.webhook}`,
    'Latest deliveries',
    (page) => page.locator('.plot canvas').nth(1).waitFor(),
  ],
  ['failing', () => `subscriptions/${ids.failing}`, 'Latest deliveries'],
  ['subscription-settings', () => `subscriptions/${ids.webhook}?tab=settings`, 'Target URL'],
  ['subscription-secret', () => `subscriptions/${ids.webhook}?tab=secret`, 'Replace the secret'],
  ['subscription-receiver', () => `subscriptions/${ids.webhook}?tab=receiver`, 'Copy the program'],
  [
    'subscription-conditions',
    () => `subscriptions/${ids.webhook}?tab=settings`,
    'Target URL',
    unfoldConditions,
  ],
  ['new-subscription', () => 'subscriptions/new', 'Target URL'],
  ['applications', () => 'applications', 'Support line'],
  ['application', () => `applications/${ids.application}`, 'of 10 subscriptions'],
  ['application-settings', () => `applications/${ids.application}?tab=settings`, 'Voice URL'],
  ['audit', () => 'audit', 'Survey results'],
  ['palette', () => 'applications', 'Support line', (page) => page.keyboard.press('Control+k')],
];

async function unfoldConditions(page: Page): Promise<void> {
  for (const name of ['Pace', 'Filter']) await page.locator('summary', { hasText: name }).click();
  await page.getByRole('button', { name: 'Add a condition' }).click();
  await page.getByLabel('Member 1').fill('caller.country');
  await page.getByLabel('Condition 1').selectOption('is one of');
  await page.getByLabel('Value 1').fill('US, CA');
}

async function searchAccount(page: Page): Promise<void> {
  await page.getByRole('searchbox', { name: 'Search accounts' }).fill('i');
  await page.getByText('2 accounts').waitFor();
}

async function typeInPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.keyboard.insertText('ac');
  await page.getByRole('group', { name: 'Accounts' }).waitFor();
}

const OPERATOR: Shot[] = [
  [
    'installation',
    () => 'installation',
    'Failing targets',
    (page) => page.locator('.course').first().waitFor({ state: 'attached' }),
  ],
  ['load', () => 'load', 'acme'],
  ['accounts', () => 'accounts', 'initech'],
  ['account', () => `accounts/${account}`, 'last used'],
  ['pick-account', () => 'overview', 'initech', searchAccount],
  ['account-deliveries', () => `deliveries?accountId=${account}`, 'delivered'],
  ['account-subscriptions', () => `subscriptions?accountId=${account}`, 'Billing'],
  [
    'account-subscription',
    () => `subscriptions/${ids.webhook}?accountId=${account}`,
    'Latest deliveries',
  ],
  ['account-delivery', () => `deliveries/${ids.delivery}`, 'webhook-id'],
  ['palette-operator', () => 'accounts', 'initech', typeInPalette],
];

/** @returns waits until the page loads nothing but the stream, which never ends */
function settling(page: Page): () => Promise<void> {
  const loading = new Set<Request>();
  page.on('request', (one) => !one.url().endsWith('/v1/stream') && loading.add(one));
  page.on('requestfinished', (one) => loading.delete(one));
  page.on('requestfailed', (one) => loading.delete(one));
  return async () => {
    do await page.waitForTimeout(300);
    while (loading.size > 0);
  };
}

describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
  describe.each(SIZES)('at $width × $height', (viewport) => {
    let contexts: BrowserContext[] = [];
    afterAll(async () => {
      for (const context of contexts) await context.close();
      contexts = [];
    });

    async function pageOf(username: string): Promise<Page> {
      const context = await browser.newContext({ viewport, colorScheme, locale: 'en-US' });
      contexts.push(context);
      const page = await context.newPage();
      page.setDefaultTimeout(20_000);
      await page.goto(`${api.url}/console/`);
      const name = `login-${colorScheme}-${viewport.width}`;
      await page.getByLabel('Username').waitFor();
      await page.screenshot({ path: `${DIR}/${name}.png`, animations: 'disabled' });
      await logIn(page, { username, password: `${username}-secret` });
      await page.locator('#main h1').waitFor();
      return page;
    }

    it.each([
      ['acme', CUSTOMER],
      ['switch', OPERATOR],
    ] as const)('of %s', async (username, shots) => {
      const page = await pageOf(username);
      const settled = settling(page);
      for (const [name, pathOf, ready, act] of shots) {
        await database.query('UPDATE processes SET seen_at = now()');
        await page.goto(`${api.url}/console/${pathOf()}`);
        await page.getByText(ready).locator('visible=true').first().waitFor();
        await act?.(page);
        await settled();
        await page.evaluate('document.fonts.ready.then(() => undefined)');
        const path = `${DIR}/${name}-${colorScheme}-${viewport.width}.png`;
        await page.screenshot({ path, animations: 'disabled' });
        const isInDocs = colorScheme === 'light' && viewport.width === 1280;
        if (isInDocs && IN_DOCS.includes(name)) await copyFile(path, `${DOCS}${name}.png`);
      }
    });
  });
});
