import type { Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import {
  accessibilityFaultsOf,
  ConsoleInstallation,
  type Customer,
  openUserMenu,
  overflowOf,
} from '../support/console.js';

let installation: ConsoleInstallation;
let customer: Customer;

beforeAll(async () => {
  installation = await ConsoleInstallation.start({ DELIVERY_RETRY_SCHEDULE: '1h' });
});
afterAll(() => installation.stop());
beforeEach(async () => {
  installation.receiver.answering = (_, response) => response.end('thanks');
  customer = await installation.aCustomer();
});
afterEach(() => installation.closePages());

it('shows the outcome of a delivery, updates it live, and sends it again', async () => {
  installation.receiver.answering = (_, response) => response.writeHead(500).end('out of order');
  const webhook = await installation.aSubscription(customer);
  await installation.report(customer);
  const { id } = await installation.delivery(customer, 'pending');
  const page = await installation.openAs(customer, `deliveries/${id}`);
  const verdict = page.getByRole('region', { name: 'Outcome' });
  await verdict.getByText('Your server answered 500.').waitFor();
  await verdict.getByText(/Next try in (\d+ minutes|1 hour), at/).waitFor();
  await page.getByText('out of order').waitFor();

  installation.receiver.answering = (_, response) => response.end('thanks');
  await customer.client.put(`/v1/webhooks/${webhook}`, { enabled: false });
  await verdict.getByText('the subscription was disabled').waitFor();
  await customer.client.put(`/v1/webhooks/${webhook}`, { enabled: true });
  await page.getByRole('button', { name: 'Send again' }).click();
  await verdict.getByText('Your server accepted this notification with 200').waitFor();
  const attempt = /^Attempt 2 \d\d:\d\d:\d\d 200 127\.0\.0\.1 \d+ ms$/;
  await page.getByRole('button', { name: attempt }).waitFor();
  await page.getByRole('button', { name: /^Attempt 1 .* 500 / }).click();
  await page.getByText('out of order').waitFor();
});

/** A delivery whose receiver does not answer until `answer` is called. */
async function aDeliveryUnderWay(): Promise<{ id: string; answer: () => void }> {
  let answer: (() => void) | undefined;
  installation.receiver.answering = (_, response) => {
    answer = () => response.end('thanks');
  };
  await installation.aSubscription(customer);
  await installation.report(customer);
  await eventually(() => answer);
  const [delivery] = (await customer.client.get('/v1/deliveries')).json<Schemas['Delivery'][]>();
  return { id: delivery!.id, answer: () => answer!() };
}

it('shows an attempt that ends while the page loads', async () => {
  const { id, answer } = await aDeliveryUnderWay();
  const page = await installation.openAs(customer, 'deliveries');
  const other = await installation.openAs(customer, 'deliveries');
  const readsFirst = async (route: Route) => {
    const response = await route.fetch();
    answer();
    // The stream sends it to all pages.
    await other.locator('.pill', { hasText: 'delivered' }).waitFor();
    await route.fulfill({ response });
  };
  await page.route(`**/v1/deliveries/${id}`, readsFirst, { times: 1 });
  await page.getByRole('row').filter({ hasText: 'sending' }).getByRole('link').click();
  await page.getByText('Your server accepted this notification with 200').waitFor();
});

it('shows an attempt that ends after the page loads and before the stream opens', async () => {
  const { id, answer } = await aDeliveryUnderWay();
  const page = await installation.openAs(customer, 'audit');
  let openStream: (() => Promise<void>) | undefined;
  await page.route('**/v1/stream', (route) => {
    openStream = () => route.continue();
  });
  await page.goto(`${installation.api.url}/console/deliveries/${id}`);
  await page.getByText('An attempt is on its way.').waitFor();
  answer();
  await installation.delivery(customer, 'succeeded');
  await openStream!();
  await page.getByText('Your server accepted this notification with 200').waitFor();
});

it('cancels a waiting delivery', async () => {
  installation.receiver.answering = (_, response) => response.writeHead(500).end();
  await installation.aSubscription(customer);
  await installation.report(customer);
  const { id } = await installation.delivery(customer, 'pending');
  const page = await installation.openAs(customer, `deliveries/${id}`);
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Cancel delivery' }).click();
  const dialog = page.getByRole('dialog', { name: 'Cancel this delivery?' });
  await dialog.getByRole('button', { name: 'Keep it' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Cancel delivery' }).click();
  await dialog.getByRole('button', { name: 'Cancel delivery' }).click();
  await page.locator('.heading .pill', { hasText: 'cancelled' }).waitFor();
  await dialog.waitFor({ state: 'detached' });
  expect(await page.getByRole('button', { name: 'Send again' }).isDisabled()).toBe(false);
  const cancelled = await customer.client.get(`/v1/deliveries/${id}`);
  expect(cancelled.json()).toMatchObject({ state: 'cancelled', reason: 'requested' });
});

/** A delivery whose next attempt is in an hour. */
async function aWaitingDelivery(): Promise<Schemas['Delivery']> {
  installation.receiver.answering = (_, response) => response.writeHead(500).end();
  await installation.aSubscription(customer);
  await installation.report(customer);
  return installation.delivery(customer, 'pending');
}

it('sends a waiting delivery at once, also from the palette', async () => {
  const { id } = await aWaitingDelivery();
  const page = await installation.openAs(customer, `deliveries/${id}`);
  await page.getByRole('button', { name: 'Send now' }).click();
  await page.getByText('Sending 1 delivery now.').waitFor();
  await page.getByText('Attempt 2', { exact: true }).waitFor();

  installation.receiver.answering = (_, response) => response.end('thanks');
  await page.getByRole('button', { name: 'Send now' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('send this');
  await page.keyboard.press('Enter');
  await page.getByText('Your server accepted this notification with 200').waitFor();
  await page.getByText('Attempt 3', { exact: true }).waitFor();
});

it('leaves a delivery with an attempt under way to that attempt', async () => {
  const { id } = await aWaitingDelivery();
  const page = await installation.openAs(customer, `deliveries/${id}`);
  await page.getByRole('button', { name: 'Send now' }).waitFor();
  const { receiver, database } = installation;
  let end = (): void => undefined;
  receiver.answering = (_, response) => (end = () => response.end());
  await database.query('UPDATE deliveries SET next_attempt_at = now() WHERE id = $1', [id]);
  const calls = () => receiver.received.filter((one) => one.id === id).length;
  await receiver.until(() => calls() === 2);
  await page.getByRole('button', { name: 'Send now' }).click();
  await page.getByText('Sending 1 delivery now.').waitFor();
  end();
  await page.getByText('Your server accepted this notification').waitFor();
  expect(calls()).toBe(2);
});

it('keeps a waiting delivery if the server does not answer', async () => {
  const { id, nextAttemptAt } = await aWaitingDelivery();
  const page = await installation.openAs(customer, `deliveries/${id}`);
  await page.route('**/send', (route) => route.abort());
  await page.getByRole('button', { name: 'Send now' }).click();
  await page.getByText('The server did not answer. Try again.').waitFor();
  const { json } = await customer.client.get(`/v1/deliveries/${id}`);
  expect(json()).toMatchObject({ state: 'pending', attempts: 1, nextAttemptAt });
});

it('sends a waiting delivery although the circuit is open, and tells until when a finished one waits', async () => {
  const { id, webhookId } = await aWaitingDelivery();
  await installation.database.query(
    `UPDATE webhooks SET failures = 10, openings = 1, failing_since = now() - interval '1 minute',
       open_until = now() + interval '10 minutes' WHERE id = $1`,
    [webhookId],
  );
  const page = await installation.openAs(customer, `deliveries/${id}`);
  const verdict = page.getByRole('region', { name: 'Outcome' });
  await page.locator('.heading .pill', { hasText: 'held' }).waitFor();
  await verdict.getByText('“Send now” tries it at once anyway').waitFor();
  // Its own next attempt is later than the end of the circuit.
  await verdict.getByText(/Next try in ([2-9]\d minutes|1 hour), at/).waitFor();
  await page.getByRole('button', { name: 'Send now' }).click();
  await page.getByText('Sending 1 delivery now.').waitFor();
  await page.getByText('Attempt 2', { exact: true }).waitFor();
  await customer.client.post(`/v1/deliveries/${id}/cancel`);
  await page.getByRole('button', { name: 'Send again' }).click();
  await page
    .getByText(/^Sending 1 delivery again after .*\d, because .* a successful test closes it\.$/)
    .waitFor();
  await customer.client.post(`/v1/deliveries/${id}/cancel`);
  await customer.client.post(`/v1/webhooks/${webhookId}/pause`);
  await verdict.getByText('Sent again, it waits until you resume the subscription.').waitFor();
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('Sending 1 delivery again when the subscription is resumed.').waitFor();
  await verdict.getByText('The subscription is paused.').waitFor();
  await verdict.getByRole('link', { name: 'Open its subscription' }).click();
  await page.waitForURL(`**/subscriptions/${webhookId}`);
});

it('tells what the result of a test means for its subscription', async () => {
  const { webhookId } = await aWaitingDelivery();
  const test = async () => {
    const { href } = (await customer.client.post(`/v1/webhooks/${webhookId}/test`)).json<{
      href: string;
    }>();
    return installation.openAs(customer, `deliveries/${href.split('/').at(-1)}`);
  };
  await (await test()).getByText('its failure does not count against its subscription').waitFor();
  installation.receiver.answering = (_, response) => response.end('thanks');
  const page = await test();
  await page.getByRole('heading', { name: 'cdrCreated · call · test' }).waitFor();
  const code = page.getByRole('link', { name: 'Receiver code' });
  expect(await code.getAttribute('href')).toMatch(/\/subscriptions\/\d+\?tab=receiver$/);
  await page.getByRole('link', { name: 'Deliveries still retrying' }).click();
  await page.getByRole('row').filter({ hasText: 'retrying' }).getByRole('link').click();
  await page.getByText('Your server answered 500.').waitFor();
});

it('shows how long a timed-out attempt waited for the answer', async () => {
  installation.receiver.answering = () => undefined;
  await installation.aSubscription(customer, { retry: { timeoutMs: 1_000 } });
  await installation.report(customer);
  const { id } = await installation.delivery(customer, 'pending');
  const page = await installation.openAs(customer, `deliveries/${id}`);
  const widthOf = async (name: string) => {
    const bar = page.getByRole('row').filter({ hasText: name }).locator('.bar-of');
    return (await bar.boundingBox())!.width;
  };
  await page.getByRole('tab', { name: 'Timing' }).click();
  await page
    .getByRole('row')
    .filter({ hasText: /^Wait for the answer/ })
    .waitFor();
  expect(await widthOf('Connect')).toBeLessThan((await widthOf('Wait for the answer')) / 2);
});

it("shows times in the viewer's named zone, and in UTC on hover", async () => {
  await installation.aSubscription(customer);
  await installation.report(customer);
  const { id, createdAt } = await installation.delivery(customer, 'succeeded');
  const zone = { timezoneId: 'Asia/Tokyo' };
  const page = await installation.openAs(customer, `deliveries/${id}`, zone);
  await openUserMenu(page);
  await page.getByText('Times are in GMT+9.').waitFor();
  await page.keyboard.press('Escape');
  const time = page.locator('.facts time').first();
  expect(await time.getAttribute('title')).toBe(`${createdAt.replace('T', ' ').slice(0, -1)} UTC`);
  const hour = String((Number(createdAt.slice(11, 13)) + 9) % 24).padStart(2, '0');
  expect(await time.innerText()).toMatch(new RegExp(`(^|, )${hour}:`));
});

it('shows the body exactly as it was signed, and copies the request as curl', async () => {
  const payload = '{"big": 12345678901234567890, "z":1, "a":"\\u00e9"}';
  const fields = `{"name":"Billing \\"EU\\"","event":"cdrCreated","resource":"call","targetUrl":"${installation.receiver.url}","payload":${payload},"headers":{"X-Key":"top secret"}}`;
  const made = await customer.client.post('/v1/webhooks', fields);
  expect(made.status).toBe(200);
  await installation.report(customer, '{ "n":1e400, "n": 98765432109876543210.50 }');
  const { id } = await installation.delivery(customer, 'succeeded');
  const received = installation.receiver.received.find((one) => one.id === id)!;

  const permissions = ['clipboard-read', 'clipboard-write'];
  const page = await installation.openAs(customer, `deliveries/${id}`, { permissions });
  await page.getByRole('tab', { name: 'Body' }).click();
  const body = page.getByLabel('Signed body');
  expect(await body.innerText()).toContain('\n  "payload": {\n    "big": 12345678901234567890,');
  await page.getByRole('button', { name: 'As sent' }).click();
  expect(await body.innerText()).toBe(received.body);
  await page.getByRole('tab', { name: 'Request' }).click();
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  await page.getByText('Copied.').waitFor();
  const curl = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(curl).toContain(`curl -X POST '${installation.receiver.url}`);
  expect(curl).toContain(`webhook-id: ${id}`);
  expect(curl).toContain('98765432109876543210.50');
  expect(curl).not.toContain('top secret');
});

it('shows hostile answers and addresses as texts', async () => {
  const script = '<script>document.title="taken"</script>';
  installation.receiver.answering = (_, response) => {
    response
      .writeHead(400, { 'X-Hostile': '<b>bold</b>' })
      .end(`${script}\u202e${'y'.repeat(10_000)}`);
  };
  const targetUrl = `${installation.receiver.url}/${'<script>'.repeat(100)}`;
  await installation.aSubscription(customer, { targetUrl, name: script });
  await installation.report(customer, JSON.stringify({ text: script.repeat(300) }));
  const { id } = await installation.delivery(customer, 'pending');
  const viewport = { width: 360, height: 700 };
  const page = await installation.openAs(customer, `deliveries/${id}`, { viewport });
  // It is not a page, so its text is not extracted.
  await page.getByLabel('Answer body').getByText('document.title="taken"').waitFor();
  await page.getByText('x-hostile: <b>bold</b>').waitFor();
  expect(await page.title()).toMatch(/^cdrCreated of .* – Deliveries – Switchhook$/);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
});

/** A delivery with this answer. @returns its page */
async function aDeliveryAnswered(answer: string, data = '{}', options = {}): Promise<Page> {
  installation.receiver.answering = (_, response) => response.writeHead(502).end(answer);
  await installation.aSubscription(customer);
  await installation.report(customer, data);
  const { id } = await installation.delivery(customer, 'pending');
  return installation.openAs(customer, `deliveries/${id}`, options);
}

it('shows the text of an HTML answer, and never renders it', async () => {
  const answer = `<html><head><title>502 Bad Gateway</title></head>
<body><h1>502 Bad Gateway</h1><img src=x onerror="document.title='taken'"><hr>nginx</body></html>`;
  const page = await aDeliveryAnswered(answer);
  const body = page.getByLabel('Answer body');
  await body.getByText('nginx').waitFor();
  expect(await body.innerText()).toBe('502 Bad Gateway\nnginx');
  await page.getByRole('button', { name: 'As sent' }).click();
  expect(await body.innerText()).toBe(answer);
  expect(await page.locator('img').count()).toBe(0);
  expect(await page.title()).not.toContain('taken');
});

it('folds JSON, and copies one value and its path, with the pointer and with the keyboard', async () => {
  const answer = '{"error":{"code":12345678901234567890,"lines":["a","b"]},"odd name":"x\\"y"}';
  const permissions = ['clipboard-read', 'clipboard-write'];
  const page = await aDeliveryAnswered(answer, '{}', { permissions });
  const tree = page.getByRole('tree', { name: 'Answer body' });
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
  await tree.getByText('12345678901234567890').hover();
  await page.getByRole('button', { name: 'Copy the value' }).click();
  await expect.poll(copied).toBe('12345678901234567890');
  await page.getByRole('button', { name: 'Copy the path' }).click();
  await expect.poll(copied).toBe('error.code');

  await tree.getByRole('treeitem').first().focus();
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowLeft']) {
    await page.keyboard.press(key);
  }
  await tree.getByText('"lines": […]2 items').waitFor();
  await page.keyboard.press('Control+c');
  await expect.poll(copied).toBe('["a","b"]');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await tree.getByText('"error": {…},2 members').waitFor();
  expect(await tree.getByText('12345678901234567890').count()).toBe(0);
  expect(await accessibilityFaultsOf(page)).toEqual([]);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect.poll(copied).toBe('x"y');
});

it('stays quick with large and deeply nested documents', async () => {
  const list = JSON.stringify(Array.from({ length: 9_000 }, (_, n) => 1_000_000_000 + n));
  const nested = `${'['.repeat(2_000)}${']'.repeat(2_000)}`;
  const page = await aDeliveryAnswered(nested, `{"list":${list}}`);
  await page.getByRole('tree', { name: 'Answer body' }).getByText('[…]').waitFor();
  await page.getByRole('tab', { name: 'Body' }).click();
  const body = page.getByRole('tree', { name: 'Signed body' });
  const before = Date.now();
  await body.getByText('9,000 items').click();
  await body.getByText('Show more of 9,000 items').click();
  await expect.poll(() => body.getByRole('treeitem').count()).toBeGreaterThan(400);
  expect(Date.now() - before).toBeLessThan(3_000);
});

it('breaks neither at long lines nor at text from right to left', async () => {
  const data = JSON.stringify({ text: `\u202e${'x'.repeat(10_000)}`, next: 1 });
  const viewport = { width: 360, height: 700 };
  const page = await aDeliveryAnswered('y'.repeat(4_000), data, { viewport });
  await page.getByRole('tab', { name: 'Body' }).click();
  const tree = page.getByRole('tree', { name: 'Signed body' });
  await tree.getByText('10,001 characters').click();
  await tree.getByText('x'.repeat(10_000)).waitFor();
  await tree.getByText('"next"').waitFor();
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
});
