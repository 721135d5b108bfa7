import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { ConsoleInstallation, type Customer, logIn } from '../support/console.js';
import { picture } from '../support/pictures.js';

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
const states = (page: Page) => page.locator('[role=row] .badge').allInnerTexts();

const verdictOn = (page: Page) => page.getByRole('region', { name: 'What became of it' });

function answer(status: number, body: string): void {
  installation.receiver.answering = (_, response) => response.writeHead(status).end(body);
}

/** A circuit opens after 30 s of failures: they began earlier than they did. */
async function letTimePass(webhook: string): Promise<void> {
  const statement = `UPDATE webhooks SET failing_since = failing_since - interval '1 minute' WHERE id = $1`;
  await installation.database.query(statement, [webhook]);
}

it('leads a customer from the login to a repaired receiver', async () => {
  answer(200, 'thanks');
  customer = await installation.aCustomer();
  const page = await installation.open('');
  await page.getByLabel('Username').waitFor();
  await picture(page, 'login');
  await logIn(page, customer);
  const webhook = await installation.aSubscription(customer, { name: 'Billing' });

  // An event arrives live.
  await goTo(page, 'Deliveries');
  await page.getByText('There are no deliveries yet.').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await installation.report(customer, '{"callId":"c-1","seconds":61}');
  await page.locator('.badge', { hasText: 'succeeded' }).waitFor();

  // The receiver breaks.
  answer(500, 'out of order');
  for (let n = 2; n <= 6; n += 1) await installation.report(customer, `{"callId":"c-${n}"}`);
  const gone = Array<string>(5).fill('exhausted');
  await expect.poll(() => states(page), { timeout: 30_000 }).toEqual([...gone, 'succeeded']);
  await letTimePass(webhook);
  await installation.report(customer, '{"callId":"c-7"}');
  await page.locator('.badge', { hasText: 'parked' }).waitFor();
  await picture(page, 'deliveries');

  // The verdict, the circuit, and the next try.
  await page.getByRole('row').filter({ hasText: 'parked' }).getByRole('link').click();
  const verdict = verdictOn(page);
  await verdict.getByText('Your server answered 500. This notification waits.').waitFor();
  await verdict.getByText(/is on hold\. It is tried again in \d+/).waitFor();
  await page.getByText('out of order').waitFor();
  await picture(page, 'delivery');

  // It is repaired: a test closes the circuit, and what waited is sent.
  answer(200, 'thanks');
  expect((await customer.client.post(`/v1/webhooks/${webhook}/test`)).status).toBe(202);
  await verdict.getByText('Your server accepted this notification with 200').waitFor();

  // What failed is sent again.
  await goTo(page, 'Deliveries');
  await page.getByLabel('State').selectOption('exhausted');
  await expect.poll(() => states(page)).toEqual(gone);
  await page.getByRole('button', { name: 'Redeliver all that match' }).click();
  const dialog = page.getByRole('dialog', { name: 'Redeliver all that match' });
  await dialog.getByText('5 deliveries would be sent again.').waitFor();
  await picture(page, 'redeliver');
  await dialog.getByRole('button', { name: 'Redeliver 5 deliveries' }).click();
  await dialog.getByText('5 of 5 sent again').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByLabel('State').selectOption('');
  await expect
    .poll(() => states(page), { timeout: 30_000 })
    .toEqual(Array<string>(8).fill('succeeded'));
  await picture(page, 'redelivered');
});
