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

async function openDialog(page: Page, name = 'Send undelivered') {
  await page.getByRole('button', { name: /^Send (undelivered|again|now|[\d,]+ again) …$/ }).click();
  return page.getByRole('dialog', { name });
}

it('counts the matching deliveries, sends them once, and shows the progress', async () => {
  await aSubscriptionWithFailures(3);
  await installation.aSubscription(customer);
  // This one succeeds.
  await installation.report(customer);
  const page = await installation.openAs(customer, 'deliveries?event=cdrCreated&status=5xx');
  const before = installation.receiver.received.length;
  const dialog = await openDialog(page);
  await dialog.getByText('3 deliveries: all 3 go now.').waitFor();
  await dialog.getByText('All undelivered').waitFor();
  await dialog.getByText('5xx').waitFor();

  // The answer is lost, and the request is repeated.
  await page.route(
    '**/v1/deliveries/send',
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await dialog.getByRole('button', { name: 'Send 3 deliveries' }).click();
  await dialog.getByText('nothing is sent twice').waitFor();
  await dialog.getByRole('button', { name: 'Send 3 deliveries' }).click();
  await dialog.getByText('3 of 3 started').waitFor();
  await dialog.getByText(/It is complete\. (All are finished|.* goe?s? now)/).waitFor();
  expect(await dialog.getByText('It continues').count()).toBe(0);
  await installation.receiver.until((received) => received.length >= before + 3);
  const replays = 'SELECT 1 FROM replays WHERE account_id = $1';
  expect(await installation.database.query(replays, [customer.id])).toHaveLength(1);

  await page.keyboard.press('Escape');
  expect(await dialog.count()).toBe(0);
  const progress = page.getByRole('list', { name: 'Sent together' });
  await progress.getByText('3 of 3 started').waitFor();
  await progress.getByRole('button', { name: 'Dismiss' }).click();
  expect(await progress.count()).toBe(0);
});

it('tells how many it leaves out because their subscription is disabled', async () => {
  const webhook = await aSubscriptionWithFailures(1);
  const page = await installation.openAs(customer, 'deliveries');
  await customer.client.put(`/v1/webhooks/${webhook}`, { enabled: false });
  const dialog = await openDialog(page);
  await dialog
    .getByText('There is nothing to send. Left out: 1 for a disabled subscription.')
    .waitFor();
  await dialog.getByRole('link', { name: 'See disabled subscriptions' }).click();
  await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
  expect(await dialog.count()).toBe(0);
});

it('continues after closing the dialog, and reloading or leaving the page, until it is cancelled', async () => {
  const webhook = await aSubscriptionWithFailures(1);
  await customer.client.post(`/v1/webhooks/${webhook}/pause`);
  const page = await installation.openAs(customer, 'deliveries');
  const button = page.getByRole('button', { name: /^Send undelivered/ });
  expect(await button.getAttribute('class')).not.toBe('primary');
  await page.getByLabel('State', { exact: true }).selectOption('exhausted');
  await page.locator('.primary', { hasText: 'Send 1 again …' }).waitFor();
  const dialog = await openDialog(page, 'Send again');
  const outlook = 'none goes now, 1 waits for a paused subscription.';
  await dialog.getByText(`1 delivery: ${outlook}`).waitFor();
  await dialog.getByRole('button', { name: 'Send 1 delivery' }).click();
  await dialog.getByText('0 of 1 started').waitFor();
  await dialog.getByText('It continues when you close this dialog.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.reload();
  const progress = page.getByRole('list', { name: 'Sent together' });
  await progress.getByText(`It is running. N${outlook.slice(1)}`).waitFor();
  expect(await progress.getByRole('button', { name: 'Dismiss' }).count()).toBe(0);
  await page.getByRole('link', { name: 'Overview' }).click();
  await progress.getByText('It is running.').waitFor();
  await progress.getByRole('button', { name: 'Cancel sending' }).click();
  await progress.getByText('It was cancelled.').waitFor();
});

it('shows that it has ended only until the page is left', async () => {
  await aSubscriptionWithFailures(1);
  const page = await installation.openAs(customer, 'deliveries');
  const dialog = await openDialog(page);
  await dialog.getByRole('button', { name: 'Send 1 delivery' }).click();
  await dialog.getByText('It is complete.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  const progress = page.getByRole('list', { name: 'Sent together' });
  await page.getByLabel('Event', { exact: true }).selectOption('smsdlr');
  await page.getByText('Nothing matches').waitFor();
  await progress.getByText('It is complete.').waitFor();
  await page.getByRole('link', { name: 'Events', exact: true }).click();
  await page.getByText('1 event', { exact: true }).waitFor();
  expect(await progress.count()).toBe(0);
});

it('sends deliveries that wait for their next attempt, and keeps their schedule', async () => {
  const { receiver } = installation;
  receiver.answering = (_, response) => response.writeHead(500).end();
  await installation.aSubscription(customer, { retry: { schedule: [3_600, 3_600] } });
  await installation.report(customer);
  const { id, nextAttemptAt } = await installation.delivery(customer, 'pending');
  const page = await installation.openAs(customer, 'deliveries?state=pending');
  const dialog = await openDialog(page, 'Send now');
  await dialog.getByText('1 delivery: 1 goes now.').waitFor();
  await dialog.getByRole('button', { name: 'Send 1 delivery now' }).click();
  await dialog.getByText('1 of 1 started').waitFor();
  await receiver.until((received) => received.filter((one) => one.id === id).length === 2);
  const attempts = async () => (await installation.delivery(customer, 'pending')).attempts;
  await expect.poll(attempts, { timeout: 20_000 }).toBe(2);
  expect((await installation.delivery(customer, 'pending')).nextAttemptAt).toBe(nextAttemptAt);
});

it('shows the progress of a running replay', async () => {
  const webhook = await aSubscriptionWithFailures(1);
  await customer.client.post(`/v1/webhooks/${webhook}/pause`);
  const page = await installation.openAs(customer, `deliveries?webhookId=${webhook}`);
  const dialog = await openDialog(page);
  await dialog.getByRole('button', { name: 'Send 1 delivery' }).click();
  await dialog.getByText('0 of 1 started').waitFor();
  await customer.client.post(`/v1/webhooks/${webhook}/resume`);
  await dialog.getByText('1 of 1 started').waitFor();
});

it('tells what cannot be sent again, and why', async () => {
  const page = await installation.openAs(customer, 'deliveries?state=parked');
  await page.getByText('Nothing matches').waitFor();
  expect(await page.getByRole('button', { name: /^Send/ }).count()).toBe(0);
  await page.getByLabel('State', { exact: true }).selectOption('');
  const dialog = await openDialog(page);
  const start = dialog.getByRole('button', { name: 'Send', exact: true });
  await dialog.getByText('There is nothing to send.').waitFor();
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
  const start = dialog.getByRole('button', { name: 'Send 1 delivery' });
  await start.click();
  await dialog.getByText('Wait until one of them has ended, or cancel one.').waitFor();
  await cancel();
  await startMany(10);
  await start.click();
  const sentence = /can be started in an hour\. Try again in (\d+ minutes|1 hour)\./;
  await dialog.getByText(sentence).waitFor();
});
