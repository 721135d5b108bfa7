import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { ConsoleInstallation, type Customer } from '../support/console.js';

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

/** Deliveries that were exhausted after a 500. @returns their subscription, which works again */
async function aSubscriptionWithFailures(count: number): Promise<string> {
  const { receiver } = installation;
  receiver.answering = (_, response) => response.writeHead(500).end();
  const webhook = await installation.aSubscription(customer, { retry: { schedule: [] } });
  for (let n = 0; n < count; n += 1) await installation.report(customer);
  const exhausted = async () =>
    (await customer.client.get('/v1/deliveries?state=exhausted')).json<unknown[]>().length;
  await expect.poll(exhausted, { timeout: 30_000 }).toBe(count);
  receiver.answering = (_, response) => response.end();
  return webhook;
}

async function openDialog(page: Page) {
  await page.getByRole('button', { name: /^Redeliver (all that match|[\d,]+) …$/ }).click();
  return page.getByRole('dialog', { name: 'Redeliver all that match' });
}

it('counts the matching deliveries, sends them again once, and shows the progress', async () => {
  await aSubscriptionWithFailures(3);
  await installation.aSubscription(customer);
  // This one succeeds.
  await installation.report(customer);
  const page = await installation.openAs(customer, 'deliveries?event=cdrCreated&status=5xx');
  const before = installation.receiver.received.length;
  const dialog = await openDialog(page);
  await dialog.getByText('3 deliveries would be sent again.').waitFor();
  await dialog.getByText('exhausted or cancelled, because no state is chosen').waitFor();
  await dialog.getByText('5xx').waitFor();

  // The answer is lost, and the request is repeated.
  await page.route(
    '**/v1/deliveries/redeliver',
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await dialog.getByRole('button', { name: 'Redeliver 3 deliveries' }).click();
  await dialog.getByText('nothing is sent twice').waitFor();
  await dialog.getByRole('button', { name: 'Redeliver 3 deliveries' }).click();
  await dialog.getByText('3 of 3 sent again').waitFor();
  await dialog.getByText('It is complete.').waitFor();
  await installation.receiver.until((received) => received.length >= before + 3);
  const replays = 'SELECT 1 FROM replays WHERE account_id = $1';
  expect(await installation.database.query(replays, [customer.id])).toHaveLength(1);

  await page.keyboard.press('Escape');
  expect(await dialog.count()).toBe(0);
  const progress = page.getByRole('list', { name: 'Redeliveries' });
  await progress.getByText('3 of 3 sent again').waitFor();
  await progress.getByRole('button', { name: 'Dismiss' }).click();
  expect(await progress.count()).toBe(0);
});

it('tells how many it leaves out because their subscription is off', async () => {
  const webhook = await aSubscriptionWithFailures(1);
  const page = await installation.openAs(customer, 'deliveries');
  await customer.client.put(`/v1/webhooks/${webhook}`, { enabled: false });
  const dialog = await openDialog(page);
  await dialog.getByText('There is nothing to send again. 1 delivery more would match').waitFor();
  await dialog.getByRole('link', { name: 'switch them on first' }).click();
  await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
  expect(await dialog.count()).toBe(0);
});

it('continues after closing the dialog and reloading the page, until it is cancelled', async () => {
  const webhook = await aSubscriptionWithFailures(1);
  await customer.client.post(`/v1/webhooks/${webhook}/pause`);
  const page = await installation.openAs(customer, 'deliveries');
  const button = page.getByRole('button', { name: /^Redeliver all that match/ });
  expect(await button.getAttribute('class')).not.toBe('primary');
  await page.getByLabel('State', { exact: true }).selectOption('exhausted');
  await page.locator('.primary', { hasText: 'Redeliver 1 …' }).waitFor();
  const dialog = await openDialog(page);
  await dialog.getByRole('button', { name: 'Redeliver 1 delivery' }).click();
  await dialog.getByText('0 of 1 sent again').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.reload();
  const progress = page.getByRole('list', { name: 'Redeliveries' });
  await progress.getByText('It is running.').waitFor();
  expect(await progress.getByRole('button', { name: 'Dismiss' }).count()).toBe(0);
  await progress.getByRole('button', { name: 'Cancel the redelivery' }).click();
  await progress.getByText('It was cancelled.').waitFor();
});

it('shows the progress of a running replay', async () => {
  const webhook = await aSubscriptionWithFailures(1);
  await customer.client.post(`/v1/webhooks/${webhook}/pause`);
  const page = await installation.openAs(customer, `deliveries?webhookId=${webhook}`);
  const dialog = await openDialog(page);
  await dialog.getByRole('button', { name: 'Redeliver 1 delivery' }).click();
  await dialog.getByText('0 of 1 sent again').waitFor();
  await customer.client.post(`/v1/webhooks/${webhook}/resume`);
  await dialog.getByText('1 of 1 sent again').waitFor();
});

it('tells what cannot be sent again, and why', async () => {
  const page = await installation.openAs(customer, 'deliveries?state=pending');
  await page.getByText('Nothing matches').waitFor();
  expect(await page.getByRole('button', { name: /^Redeliver/ }).count()).toBe(0);
  await page.getByLabel('State', { exact: true }).selectOption('');
  const dialog = await openDialog(page);
  const start = dialog.getByRole('button', { name: 'Redeliver', exact: true });
  await dialog.getByText('There is nothing to send again.').waitFor();
  expect(await start.isDisabled()).toBe(true);
  await dialog.getByLabel('Made since').fill('');
  await dialog.getByText('Choose a time.').waitFor();
  await page.goto(`${installation.api.url}/console/deliveries?since=2999-01-01T00:00:00Z`);
  await openDialog(page);
  await dialog.getByText(/^Since: .*past/).waitFor();
});

it('tells what to do when too many replays run, or were started within an hour', async () => {
  const webhook = await aSubscriptionWithFailures(1);
  await customer.client.post(`/v1/webhooks/${webhook}/pause`);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const startMany = async (count: number) => {
    const replays: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const answer = await customer.client.post('/v1/deliveries/redeliver', { since });
      expect(answer.status).toBe(202);
      replays.push(new URL(answer.json<{ href: string }>().href).pathname);
    }
    return async () => {
      for (const path of replays) await customer.client.post(`${path}/cancel`);
    };
  };
  const cancel = await startMany(10);
  const page = await installation.openAs(customer, 'deliveries');
  const dialog = await openDialog(page);
  const start = dialog.getByRole('button', { name: 'Redeliver 1 delivery' });
  await start.click();
  await dialog.getByText('Wait until one of them has ended, or cancel one.').waitFor();
  await cancel();
  await startMany(10);
  await start.click();
  const sentence = /can be started in an hour\. Try again in (\d+ minutes|1 hour)\./;
  await dialog.getByText(sentence).waitFor();
});
