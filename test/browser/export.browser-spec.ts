import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
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

async function openDialog(page: Page, what: string) {
  await page.getByRole('button', { name: 'Export …' }).click();
  return page.getByRole('dialog', { name: `Export ${what}` });
}

/** The file that a button saves. */
async function savedBy(page: Page, name: string): Promise<{ name: string; text: string }> {
  const saving = page.waitForEvent('download');
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
  const download = await saving;
  const text = await readFile(await download.path(), 'utf8');
  return { name: download.suggestedFilename(), text };
}

it('saves the events that match the filters, with their data if asked', async () => {
  await installation.report(customer, '{"callId":"8c1f3a"}');
  await installation.report(customer, '{"callId":"8c1f3b"}');
  const page = await installation.openAs(customer, 'events?contains=8c1f3a');
  await page.getByText('1 event', { exact: true }).waitFor();
  const dialog = await openDialog(page, 'events');
  expect(await accessibilityFaultsOf(page)).toEqual([]);
  const plain = await savedBy(page, 'Export');
  await dialog.getByText('1 entry is in events.csv.').waitFor();
  expect(plain.name).toBe('events.csv');
  const [header, ...lines] = plain.text.trim().split('\r\n');
  expect(header).toMatch(/^id,.*event/);
  expect(lines).toEqual([expect.stringContaining('cdrCreated')]);
  expect(plain.text).not.toContain('8c1f3a');
  await dialog.getByLabel('With the data of each event').check();
  expect((await savedBy(page, 'Export')).text).toContain('8c1f3a');
});

it('saves deliveries as lines of JSON, with their notifications', async () => {
  await installation.aSubscription(customer);
  await installation.report(customer, '{"n":98765432109876543210}');
  const { id } = await installation.delivery(customer, 'succeeded');
  const page = await installation.openAs(customer, 'deliveries');
  const dialog = await openDialog(page, 'deliveries');
  await dialog.getByLabel('Format').selectOption('ndjson');
  await dialog.getByLabel('With the notification of each delivery').check();
  const { name, text } = await savedBy(page, 'Export');
  expect(name).toBe('deliveries.ndjson');
  expect(JSON.parse(text)).toMatchObject({ id });
  expect(text).toContain('98765432109876543210');
});

it('says when a file is full, and saves the rest in further ones', async () => {
  await installation.database.query(
    `INSERT INTO audit (id, created_at, account_id, user_id, actor, action, resource_id, fields)
     SELECT new_uuid(now(), n), now(), $1, $1, $2, 'delivery.redeliver', n::text, '{}'
     FROM generate_series(1, 100002) n`,
    [customer.id, customer.username],
  );
  const page = await installation.openAs(customer, 'audit?action=delivery.redeliver');
  const dialog = await openDialog(page, 'changes');
  const files = [await savedBy(page, 'Export')];
  await dialog.getByText('100,000 entries are in audit.csv, which is full.').waitFor();
  files.push(await savedBy(page, 'Export the next ones'));
  await dialog.getByText('2 entries are in audit-2.csv.').waitFor();
  expect(files.map(({ name }) => name)).toEqual(['audit.csv', 'audit-2.csv']);
  const ids = files.flatMap(({ text }) =>
    text
      .trim()
      .split('\r\n')
      .slice(1)
      .map((line) => line.slice(0, 36)),
  );
  expect(new Set(ids).size).toBe(100_002);
});

it('saves nothing if the connection is lost, and says so', async () => {
  await installation.report(customer);
  const page = await installation.openAs(customer, 'events');
  await page.getByText('1 event', { exact: true }).waitFor();
  const dialog = await openDialog(page, 'events');
  const saved: unknown[] = [];
  page.on('download', (download) => saved.push(download));
  await page.route('**/v1/events', (route) => route.abort(), { times: 1 });
  await dialog.getByRole('button', { name: 'Export' }).click();
  await dialog.getByText('The server did not answer.').waitFor();
  expect(saved).toEqual([]);
  expect((await savedBy(page, 'Export')).name).toBe('events.csv');
});
