import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { VERSION } from '#libs/runtime/config';
import { ConsoleInstallation, type Customer } from '../support/console.js';

let installation: ConsoleInstallation;
let operator: Customer;

beforeAll(async () => {
  installation = await ConsoleInstallation.start({ DELIVERY_RETRY_SCHEDULE: '1h' });
  operator = await installation.anOperator();
});
afterAll(() => installation.stop());
afterEach(() => installation.closePages());

/** Writes a heartbeat of another process. In tests, API and worker are one process, which appears as either. */
async function signOfLife(kind: 'api' | 'worker', agoS: number): Promise<void> {
  await installation.database.query(
    `INSERT INTO processes (id, kind, version, in_flight, seen_at)
     VALUES ($1, $2, '${VERSION}', 3, now() - make_interval(secs => $3))
     ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at`,
    [`${kind}-1:7:abcdef`, kind, agoS],
  );
}

it("is an operator's first page, and shows the state of the installation live", async () => {
  const page = await installation.openAs(operator, '');
  await page.getByText(/^Kept 30 days · Stored /).waitFor();
  expect(page.url()).toMatch(/\/console\/installation$/);
  await signOfLife('api', 0);
  await signOfLife('worker', 0);
  await page.getByText('all systems work').waitFor();

  await signOfLife('worker', 60);
  await page.getByText(/Only 1 of 2 workers is alive|No worker is alive/).waitFor();
  const silent = page.getByRole('row').filter({ hasText: 'worker-1:7:abcdef' });
  await silent.getByText('silent').waitFor();
  await page
    .getByRole('status')
    .getByText(/^(1 of 2 workers|no worker)$/)
    .waitFor();
  const checks = page.getByRole('region', { name: 'Checks' });
  await checks.getByText('Redis answers').waitFor();
  await checks.getByText(/^Partitions to [A-Z][a-z]{2} \d+$/).waitFor();
  await installation.database.query('DELETE FROM processes WHERE id = $1', ['worker-1:7:abcdef']);
  // The usage of this process, which runs tests for many minutes.
  const own = page.getByRole('row').filter({ hasText: /\d%.* [MG]B$/ });
  await own.first().waitFor();
});

it("links a failing target to its account's deliveries, which are read-only", async () => {
  const customer = await installation.aCustomer();
  installation.receiver.answering = (_, response) => response.writeHead(500).end('out of order');
  const targetUrl = `${installation.receiver.url}/<script>document.title="taken"</script>`;
  await installation.aSubscription(customer, { targetUrl });
  await installation.report(customer);
  await installation.delivery(customer, 'pending');

  const page = await installation.openAs(operator, 'installation');
  const failing = page.getByRole('region', { name: 'Failing targets' }).getByRole('row').nth(1);
  await failing.getByRole('link', { name: '500' }).waitFor();
  const failedAttempts = page
    .locator('.figure', { hasText: 'Failed attempts' })
    .locator('dd')
    .first();
  await expect.poll(() => failedAttempts.innerText(), { timeout: 30_000 }).toBe('1');
  await page.getByRole('link', { name: '24 h' }).click();
  await page.getByText('1 more than the day before').waitFor();
  await failing.getByRole('link', { name: customer.username }).waitFor();
  expect(await failing.getByRole('cell').last().innerText()).toBe('1');
  await signOfLife('worker', 0);
  await page.getByText('all systems work').waitFor();
  const setCircuit = (openUntil: string) =>
    installation.database.query(
      `UPDATE webhooks SET failing_since = now(), open_until = ${openUntil} WHERE account_id = $1`,
      [customer.id],
    );
  await setCircuit("now() + interval '1 hour'");
  const nextTry = failing.getByRole('cell').nth(4);
  await nextTry.getByText(/^in \d+ minutes$/).waitFor();
  await setCircuit("now() - interval '9 seconds'");
  await nextTry.getByText('now', { exact: true }).waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  const waiting = (await failing.getByRole('cell').last().boundingBox())!;
  expect(waiting.x + waiting.width).toBeLessThanOrEqual(390 - 16);
  await failing.getByText(customer.username).locator('visible=true').waitFor();
  await page.setViewportSize({ width: 1280, height: 720 });
  await failing.getByRole('link', { name: new URL(targetUrl).host }).click();
  await page.getByText('cdrCreated · call').waitFor();
  expect(page.url()).toContain(`/console/deliveries?accountId=${customer.id}&webhookId=`);
  await page.getByText('read-only', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: /^Send/ }).count()).toBe(0);
  expect(await page.getByRole('checkbox').count()).toBe(0);
  await page.getByText('cdrCreated · call').click();
  await page.getByText(`${customer.username} · read-only`).waitFor();
  await page.getByText('out of order').waitFor();
  await page.getByRole('tab', { name: 'Body' }).click();
  await page.getByText('The subscription belongs to another account').waitFor();
  expect(await page.getByRole('button', { name: 'Send again' }).count()).toBe(0);
  await page.getByRole('link', { name: customer.username }).click();
  await page.getByRole('heading', { name: customer.username }).waitFor();
});

it('does not exist for a customer', async () => {
  const page = await installation.openAs(await installation.aCustomer(), 'installation');
  await page.getByText('There is no page').waitFor();
  expect(await page.getByRole('link', { name: 'Installation' }).count()).toBe(0);
});
