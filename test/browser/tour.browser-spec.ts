import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { VERSION } from '#libs/runtime/config';
import { ConsoleInstallation, type Customer, logIn } from '../support/console.js';

let installation: ConsoleInstallation;
let customer: Customer;

beforeAll(async () => {
  // Two attempts for each notification.
  installation = await ConsoleInstallation.start({ DELIVERY_RETRY_SCHEDULE: '1s' });
});
afterAll(() => installation.stop());
afterEach(() => installation.closePages());

const goTo = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();

/** The state of each delivery in the list, newest first. */
const states = (page: Page) => page.locator('[role=row] .pill').allInnerTexts();

const verdictOn = (page: Page) => page.getByRole('region', { name: 'Outcome' });

const healthOn = (page: Page) => page.getByRole('region', { name: 'Health' });

/** The id at the end of an address. */
const lastOf = (url: string) => url.slice(url.lastIndexOf('/') + 1);

async function reportCall(applicationId: string, callId: string): Promise<void> {
  const about = { event: 'cdrCreated', resource: 'call', accountId: customer.id, applicationId };
  const made = await installation.platform.post('/v1/events', { ...about, data: { callId } });
  expect(made.status).toBe(202);
}

function answer(status: number, body: string): void {
  installation.receiver.answering = (_, response) => response.writeHead(status).end(body);
}

/** A circuit opens after 30 s of failures, so date their beginning back. */
async function letTimePass(webhook: string): Promise<void> {
  const statement = `UPDATE webhooks SET failing_since = failing_since - interval '1 minute' WHERE id = $1`;
  await installation.database.query(statement, [webhook]);
}

it('leads a customer from the login to a repaired receiver', async () => {
  answer(200, 'thanks');
  customer = await installation.aCustomer();
  const page = await installation.open('');
  await page.getByLabel('Username').waitFor();
  await logIn(page, customer);

  // An application, and a subscription to its calls.
  await goTo(page, 'Applications');
  await page.getByRole('link', { name: 'New application' }).click();
  await page.getByLabel('Name').fill('Shop');
  await page.getByLabel('Voice URL').fill('https://shop.example.com/voice');
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByText('0 of 10 subscriptions.').waitFor();
  const application = lastOf(page.url());
  await page.getByRole('link', { name: 'New subscription' }).click();
  await page.getByLabel('Name').fill('Billing');
  await page.getByLabel('Target URL').fill(installation.receiver.url);
  await page.getByRole('button', { name: 'Create' }).click();
  await page.locator('.heading .pill', { hasText: 'untested' }).waitFor();
  const webhook = lastOf(page.url());
  const report = (call: string) => reportCall(application, call);

  // An event arrives live.
  await goTo(page, 'Deliveries');
  await page.getByText('There are no deliveries yet.').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await report('c-1');
  await page.locator('.pill', { hasText: 'delivered' }).waitFor();

  // The receiver breaks.
  answer(500, 'out of order');
  for (let n = 2; n <= 6; n += 1) await report(`c-${n}`);
  const gone = Array<string>(5).fill('failed');
  await expect.poll(() => states(page), { timeout: 30_000 }).toEqual([...gone, 'delivered']);
  await letTimePass(webhook);
  await report('c-7');
  await page.locator('.pill', { hasText: 'held' }).waitFor();

  // The verdict, the circuit, and the next try.
  await page.getByRole('row').filter({ hasText: 'held' }).getByRole('link').click();
  const verdict = verdictOn(page);
  await verdict.getByText('Your server answered 500.').waitFor();
  await verdict.getByText(/Next try in \d+/).waitFor();
  await page.getByText('out of order').waitFor();

  await goTo(page, 'Subscriptions');
  await page.getByRole('link', { name: 'Billing' }).click();
  await healthOn(page)
    .getByText(/Next try in \d+/)
    .waitFor();
  await goTo(page, 'Overview');
  await page.locator('.plot canvas').nth(1).waitFor();

  // It is repaired: a test closes the circuit, and the waiting deliveries are sent.
  answer(200, 'thanks');
  await goTo(page, 'Subscriptions');
  await page.getByRole('link', { name: 'Billing' }).click();
  await healthOn(page).getByRole('button', { name: 'Send test' }).click();
  await verdict.getByText('Your server accepted this notification with 200').waitFor();

  // The failed ones are sent again.
  await goTo(page, 'Deliveries');
  await page.getByLabel('State', { exact: true }).selectOption('exhausted');
  await expect.poll(() => states(page)).toEqual(gone);
  await page.getByRole('button', { name: /^Send (again|[\d,]+ again) …$/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Send again' });
  await dialog.getByText('5 deliveries: all 5 go now.').waitFor();
  await dialog.getByRole('button', { name: 'Send 5 deliveries again' }).click();
  await dialog.getByText('5 of 5 started').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByLabel('State', { exact: true }).selectOption('');
  await expect
    .poll(() => states(page), { timeout: 30_000 })
    .toEqual(Array<string>(8).fill('delivered'));

  // The secret is replaced; for a day, both are valid.
  await goTo(page, 'Subscriptions');
  await page.getByRole('link', { name: 'Billing' }).click();
  await page.locator('.heading .pill', { hasText: 'losing' }).waitFor();
  await page.getByRole('link', { name: 'Signing secret' }).click();
  await page.getByRole('button', { name: 'Replace the secret' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click();
  await page.getByText(/Both secrets are valid for another 2[34]:/).waitFor();

  // The audit has all of it.
  await goTo(page, 'Audit log');
  const changes = page.getByRole('table', { name: 'Changes' });
  await changes.getByText('Signing secret replaced').waitFor();
  await changes.getByText('Sending in bulk started').waitFor();
  await changes.getByText('Test sent').waitFor();
  await changes.getByText('Subscription created').waitFor();
  await changes.getByText('Application created').waitFor();
});

it('shows an operator the installation', async () => {
  // In tests, API and worker are one process, which appears as either.
  await installation.database.query('DELETE FROM processes');
  await installation.database.query(
    `INSERT INTO processes (id, kind, version, in_flight)
     VALUES ('api-1:7:a1b2c3', 'api', '${VERSION}', 0), ('worker-1:7:d4e5f6', 'worker', '${VERSION}', 0)`,
  );
  const page = await installation.openAs(await installation.anOperator(), '');
  await page.getByRole('heading', { name: 'Installation' }).waitFor();
  await page.getByText('all systems work').waitFor();
});
