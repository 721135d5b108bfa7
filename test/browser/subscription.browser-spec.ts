import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Schemas } from '#libs/client';
import { freePort } from '#tools/net';
import {
  accessibilityFaultsOf,
  ConsoleInstallation,
  type Customer,
  overflowOf,
} from '../support/console.js';

let installation: ConsoleInstallation;
let customer: Customer;
let webhook: string;

beforeAll(async () => {
  installation = await ConsoleInstallation.start({ DELIVERY_RETRY_SCHEDULE: '1h' });
});
afterAll(() => installation.stop());
beforeEach(async () => {
  installation.receiver.answering = (_, response) => response.end();
  customer = await installation.aCustomer();
  webhook = await installation.aSubscription(customer, { name: 'Billing' });
});
afterEach(() => installation.closePages());

const stored = async () =>
  (await customer.client.get(`/v1/webhooks/${webhook}`)).json<Schemas['Webhook']>();

const isShownAs = (page: Page, word: string) =>
  page.locator('.heading .pill', { hasText: word }).waitFor();

async function run(page: Page, command: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.keyboard.type(command);
  await page.keyboard.press('Enter');
}

describe('the actions on a subscription', () => {
  it('is paused, resumed and tested with the keyboard', async () => {
    const page = await installation.openAs(customer, `subscriptions/${webhook}`);
    const health = page.getByRole('region', { name: 'Health' });
    await isShownAs(page, 'untested');
    await run(page, 'pause');
    await health.getByText('oldest first, when you resume it').waitFor();
    await run(page, 'resume');
    await isShownAs(page, 'untested');
    await run(page, 'send test');
    await page.getByRole('heading', { name: 'cdrCreated · call' }).waitFor();
    await page.getByText('Your server accepted this notification').waitFor();
  });

  it('is disabled and enabled, and deleted', async () => {
    const page = await installation.openAs(customer, `subscriptions/${webhook}`);
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Disable' }).click();
    await dialog.getByText('To keep them, pause it instead.').waitFor();
    await dialog.getByRole('button', { name: 'Disable' }).click();
    const health = page.getByRole('region', { name: 'Health' });
    await health.getByText('The subscription is disabled.').waitFor();
    expect(await page.getByRole('button', { name: 'Send test' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Enable' }).click();
    await isShownAs(page, 'untested');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('There are no subscriptions yet.').waitFor();
  });
});

it("keeps another editor's changes, unless the user overwrites them", async () => {
  const page = await installation.openAs(customer, `subscriptions/${webhook}?tab=settings`);
  await page.getByLabel('Name').fill('Mine');
  await customer.client.put(`/v1/webhooks/${webhook}`, { resource: 'sms' });
  await page
    .getByText('Somebody else has changed this subscription since you began (Resources)')
    .waitFor();
  // One decision at a time.
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  expect((await stored()).name).toBe('Billing');
  await page.getByRole('button', { name: 'Apply mine on top' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The subscription is saved.').waitFor();
  expect(await stored()).toMatchObject({ name: 'Mine', resource: 'sms' });
  // A pause changes no value of the form.
  await page.getByLabel('Name').fill('Mine again');
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('oldest first, when you resume it').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await stored()).name, { timeout: 10_000 }).toBe('Mine again');
  // Without input, the form follows.
  await customer.client.put(`/v1/webhooks/${webhook}`, { name: 'Theirs' });
  const name = () => page.getByLabel('Name').inputValue();
  await expect.poll(name, { timeout: 10_000 }).toBe('Theirs');
});

it('gets a pace, with faults beside the inputs', async () => {
  const page = await installation.openAs(customer, `subscriptions/${webhook}?tab=settings`);
  await page.locator('summary', { hasText: 'Pace' }).click();
  const rate = page.getByLabel('Notifications per second');
  await rate.fill('5000');
  await page.getByLabel('One at a time, in order').check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Notifications per second must be from 1 to 1000.').waitFor();
  expect(await rate.getAttribute('aria-invalid')).toBe('true');
  await rate.fill('10');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.about').getByText('at most 10 a second, in order').waitFor();
  expect(await stored()).toMatchObject({ maxPerSecond: 10, ordered: true });
  const unsaved = page.getByText('Not saved yet', { exact: true });
  await unsaved.waitFor({ state: 'hidden' });
  await rate.fill('');
  await page.getByLabel('One at a time, in order').uncheck();
  await page.getByRole('button', { name: 'Save' }).click();
  await unsaved.waitFor({ state: 'hidden' });
  await page.getByText('no limit', { exact: true }).waitFor();
  expect(Object.keys(await stored())).not.toContain('maxPerSecond');
});

describe('the filter of a subscription', () => {
  const unfold = (page: Page) => page.locator('summary', { hasText: 'Filter' }).click();
  const save = (page: Page) => page.getByRole('button', { name: 'Save' }).click();

  it('is tried on the latest events while it is typed, and decides who is notified', async () => {
    for (const duration of ['59', '60', '12345678901234567890']) {
      await installation.report(customer, `{"call":{"duration":${duration}}}`);
    }
    const page = await installation.openAs(customer, `subscriptions/${webhook}?tab=settings`);
    await unfold(page);
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await page.keyboard.type('call.duration');
    await page.getByLabel('Condition 1').selectOption('gt');
    await page.getByLabel('Value 1').fill('12345678901234567889');
    const filter = page.getByRole('group', { name: 'Filter' });
    await filter.getByText('Matches 1 of the newest 3 events, for example:').waitFor();
    await page.getByLabel('Value 1').fill('60');
    await page.getByLabel('Condition 1').selectOption('gte');
    await filter.getByText('Matches 2 of the newest 3 events').waitFor();
    await page.getByLabel('Event', { exact: true }).selectOption('smsdlr');
    await filter.getByText('There are no events yet to try it on.').waitFor();
    await page.getByLabel('Event', { exact: true }).selectOption('cdrCreated');
    await save(page);
    await page.locator('.about').getByText('1 condition').waitFor();
    expect(await stored()).toMatchObject({ filter: { 'call.duration': { gte: 60 } } });
    await installation.report(customer, '{"call":{"duration":59}}');
    const [newest] = (await customer.client.get('/v1/events?limit=1')).json<Schemas['Event'][]>();
    await page.goto(`${installation.api.url}/console/events/${newest!.id}`);
    await page.getByText('Excluded by its filter').waitFor();
    await page.getByText('does not meet the filter').waitFor();
    expect(await page.getByRole('button', { name: 'Send', exact: true }).count()).toBe(0);
  });

  it('is tried, with members of recent events to choose from, before the subscription exists', async () => {
    await installation.report(customer, '{"call":{"seconds":59},"status":"failed"}');
    const page = await installation.openAs(customer, 'subscriptions/new');
    await unfold(page);
    await page.getByRole('button', { name: 'Add a condition' }).click();
    const members = async () => {
      const options = await page.locator('datalist option').all();
      return Promise.all(options.map((one) => one.getAttribute('value')));
    };
    await expect.poll(members).toEqual(expect.arrayContaining(['call.seconds', 'status']));
    await page.keyboard.type('call.seconds');
    await page.getByLabel('Value 1').fill('59');
    const filter = page.getByRole('group', { name: 'Filter' });
    await filter.getByText(/^Matches 1 of the .+, for example:/).waitFor();
  });

  it('names a fault at its row', async () => {
    const page = await installation.openAs(customer, `subscriptions/${webhook}?tab=settings`);
    await unfold(page);
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await page.getByLabel('Member 1').fill('call/duration');
    await page.getByLabel('Condition 1').selectOption('gt');
    await page.getByLabel('Value 1').fill('long');
    await save(page);
    await page.getByRole('alert').getByText('must be a number').waitFor();
    expect(await page.getByLabel('Value 1').getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByLabel('Member 1').getAttribute('aria-invalid')).toBeNull();
    await page.getByLabel('Condition 1').selectOption('json');
    await page.getByLabel('Value 1').fill('{"above": 60}');
    await save(page);
    const fault = 'Filter (call/duration, above) is none of gt, gte, lt, lte, prefix, exists, not.';
    await page.getByRole('alert').getByText(fault).waitFor();
    expect(await page.getByLabel('Value 1').getAttribute('aria-invalid')).toBe('true');
    await page.getByRole('button', { name: 'Remove row 1' }).click();
    await page.getByText('every event', { exact: true }).waitFor();
  });

  it('is refused if a condition has no value, with the message in view', async () => {
    const page = await installation.openAs(customer, `subscriptions/${webhook}?tab=settings`);
    await page.setViewportSize({ width: 1280, height: 500 });
    await unfold(page);
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await page.getByLabel('Member 1').fill('duration');
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await page.getByLabel('Member 2').fill('to');
    await page.getByLabel('Condition 2').selectOption('exists');
    const value = page.getByLabel('Value 1');
    const foot = page.locator('.form-foot');
    const [row, before] = [await value.boundingBox(), await foot.boundingBox()];
    // The row touches the bar, which then covers the message.
    await page.evaluate(`scrollBy(0, ${row!.y + row!.height - before!.y})`);
    await save(page);
    const message = page.getByText('The condition on duration has no value. Write "" for an empty');
    await message.waitFor();
    expect(await value.getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator('[aria-label="Value 1"]:focus').count()).toBe(1);
    const [text, bar] = [await message.boundingBox(), await foot.boundingBox()];
    expect(text!.y + text!.height).toBeLessThanOrEqual(bar!.y);
    expect(await stored()).not.toHaveProperty('filter');
    await value.fill('""');
    await save(page);
    await page.locator('.about').getByText('2 conditions').waitFor();
    expect(await stored()).toMatchObject({ filter: { duration: '', to: { exists: true } } });
  });

  it('keeps conditions that have no words, and has at most ten members', async () => {
    const odd = { not: { prefix: '+1' } };
    await customer.client.put(`/v1/webhooks/${webhook}`, { filter: { to: odd, n: [1, 'x'] } });
    const page = await installation.openAs(customer, `subscriptions/${webhook}?tab=settings`);
    await unfold(page);
    expect(await page.getByLabel('Value 1').inputValue()).toBe('{"not":{"prefix":"+1"}}');
    expect(await page.getByLabel('Value 2').inputValue()).toBe('1, x');
    for (let number = 3; number <= 10; number += 1) {
      await page.getByRole('button', { name: 'Add a condition' }).click();
      await page.getByLabel(`Member ${number}`).fill(`m${number}`);
      await page.getByLabel(`Condition ${number}`).selectOption('exists');
    }
    await page.getByText('10 members are the most').waitFor();
    await save(page);
    await page.locator('.about').getByText('10 conditions').waitFor();
    expect(await stored()).toMatchObject({
      filter: { to: odd, n: [1, 'x'], m10: { exists: true } },
    });
  });
});

describe('the health of a subscription', () => {
  it('tells what the pace delays', async () => {
    installation.receiver.answering = (_, response) => response.writeHead(500).end();
    await customer.client.put(`/v1/webhooks/${webhook}`, { ordered: true });
    const page = await installation.openAs(customer, `subscriptions/${webhook}`);
    const event = { event: 'cdrCreated', resource: 'call', accountId: customer.id, data: {} };
    await installation.platform.post('/v1/events/batch', { events: [event, event] });
    const health = page.getByRole('region', { name: 'Health' });
    await health.getByText('in order, and wait for the one before them').waitFor();
    await health.getByRole('link', { name: 'See waiting deliveries' }).click();
    await page.locator('[role=row] .pill', { hasText: 'waiting' }).click();
    await page.getByText('wait for the one before them').waitFor();
  });

  it('shows an open circuit live, and its end after a test', async () => {
    installation.receiver.answering = (_, response) => response.writeHead(500).end();
    // Nine failures are written directly; the tenth is real.
    await installation.database.query(
      `UPDATE webhooks SET failures = 9, failing_since = now() - interval '1 minute' WHERE id = $1`,
      [webhook],
    );
    const page = await installation.openAs(customer, `subscriptions/${webhook}`);
    const health = page.getByRole('region', { name: 'Health' });
    await health.getByText('Every recent attempt has failed').waitFor();
    await installation.report(customer);
    await health.getByText('notifications wait until it works again').waitFor();
    await health.getByText(/Next try in \d+ seconds, at/).waitFor();
    await health.getByText('Last failure 500').waitFor();
    await health.getByText(/Will be disabled on \w+ \d+ unless it recovers/).waitFor();
    await page.locator('.heading .pill', { hasText: 'failing' }).waitFor();
    installation.receiver.answering = (_, response) => response.end();
    // Only once: the menu has it, too.
    expect(await page.getByRole('button', { name: 'Send test' }).count()).toBe(1);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Send test' }).waitFor();
    await page.keyboard.press('Escape');
    await health.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('Your server accepted this notification').waitFor();
    await page.goBack();
    await isShownAs(page, 'healthy');
    await health.getByText('Deliveries that failed earlier keep their retry times').waitFor();
    await health.getByRole('link', { name: 'See them, or send them now' }).click();
    await page.locator('.pill', { hasText: 'retrying' }).waitFor();
    expect(page.url()).toContain(`deliveries?webhookId=${webhook}&state=pending`);
  });

  it('shows a hold that the target asked for', async () => {
    installation.receiver.answering = (_, response) =>
      response.writeHead(503, { 'Retry-After': '7200' }).end();
    const page = await installation.openAs(customer, `subscriptions/${webhook}`);
    await installation.report(customer);
    const health = page.getByRole('region', { name: 'Health' });
    await health.getByText(/Sending resumes in (1 hour|2 hours), at/).waitFor();
    await page.getByRole('link', { name: 'All deliveries' }).click();
    await page.locator('[role=row] .pill', { hasText: 'held' }).waitFor();
    expect(page.url()).toMatch(new RegExp(`deliveries\\?webhookId=${webhook}$`));
  });

  it('tells why the service disabled it, and offers what it lost once it is enabled', async () => {
    installation.receiver.answering = (_, response) => response.writeHead(500).end();
    await installation.report(customer);
    const { id } = await installation.delivery(customer, 'pending');
    installation.receiver.answering = (_, response) => response.writeHead(410).end();
    const page = await installation.openAs(customer, `subscriptions/${webhook}`);
    await installation.report(customer);
    await page.getByText('Your server answered 410 Gone').waitFor();
    await page.locator('.heading .pill.bad', { hasText: 'disabled' }).waitFor();
    installation.receiver.answering = (_, response) => response.end();
    await installation.report(customer);
    // Only one, beside the reason.
    const enable = page.getByRole('button', { name: 'Enable' });
    expect(await enable.count()).toBe(1);
    await enable.click();
    const dialog = page.getByRole('dialog', { name: 'The subscription is enabled' });
    await dialog.getByLabel('Send 2 deliveries again: all 2 go now').waitFor();
    await dialog.getByLabel('Send 1 missed event: 1 goes now').waitFor();
    expect(await accessibilityFaultsOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Send' }).click();
    await dialog.getByText('2 of 2 started').waitFor();
    await dialog.getByText('1 of 1 started').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await isShownAs(page, 'losing');
    const sent = async () => (await customer.client.get(`/v1/deliveries/${id}`)).json();
    await expect.poll(sent, { timeout: 20_000 }).toMatchObject({ state: 'succeeded' });
    expect(await page.getByText('came while it was disabled').count()).toBe(0);
  });

  it('goes on offering what it missed after 410, if that is not sent at once', async () => {
    installation.receiver.answering = (_, response) => response.writeHead(410).end();
    const page = await installation.openAs(customer, `subscriptions/${webhook}`);
    await installation.report(customer);
    await page.getByText('Your server answered 410 Gone').waitFor();
    installation.receiver.answering = (_, response) => response.end();
    await installation.report(customer);
    await installation.report(customer);
    await page.getByRole('button', { name: 'Enable' }).click();
    const dialog = page.getByRole('dialog', { name: 'The subscription is enabled' });
    await dialog.getByLabel('Send 2 missed events: all 2 go now').uncheck();
    await dialog.getByRole('button', { name: 'Send' }).click();
    await dialog.getByText('1 of 1 started').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByText('2 events came while it was disabled.').waitFor();
    await page.getByRole('link', { name: 'See them, and send them' }).click();
    await page.getByRole('button', { name: 'Send missed events' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send 2 missed events' }).click();
    await page.getByRole('dialog').getByText('2 of 2 started').waitFor();
  });
});

describe('the secret of a subscription', () => {
  it('is revealed, copied and replaced, with a countdown of the overlap', async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const page = await installation.openAs(customer, `subscriptions/${webhook}?tab=secret`, {
      permissions,
    });
    const section = page.getByRole('region', { name: 'Signing secret' });
    const keyNow = async () =>
      (await customer.client.get(`/v1/webhooks/${webhook}/secret`)).json<{ secret: string }>()
        .secret;
    const old = await keyNow();
    await section.getByRole('button', { name: 'Reveal' }).click();
    await section.getByText(old).waitFor();
    await section.getByRole('button', { name: 'Copy the secret' }).click();
    await page.getByText('Copied.').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(old);
    await section.getByRole('button', { name: 'Hide' }).click();
    expect(await section.getByText(old).count()).toBe(0);

    await section.getByRole('button', { name: 'Replace the secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click();
    await section.getByText(/^(23:59|24:00):\d\d$/).waitFor();
    expect(await keyNow()).not.toBe(old);
    await section.getByText(await keyNow()).waitFor();
    // The overlap survives a reload.
    await page.reload();
    await section.getByText(/^23:59:\d\d$/).waitFor();
  });

  it('is a public key with Ed25519', async () => {
    const page = await installation.openAs(customer, `subscriptions/${webhook}?tab=settings`);
    await page.locator('summary', { hasText: 'Signature' }).click();
    await page.getByLabel('Signature').selectOption('ed25519');
    await page.getByRole('button', { name: 'Save' }).click();
    const key = await publicKeyOf(page);
    await page.getByRole('link', { name: 'Signing secret' }).click();
    const section = page.getByRole('region', { name: 'Public key' });
    await section.getByText(key ?? 'whpk_').waitFor();
    await section.getByText(/^(23:59|24:00):\d\d$/).waitFor();
  });

  async function publicKeyOf(page: Page): Promise<string | undefined> {
    await page.getByText('The subscription is saved.').waitFor();
    return (await stored()).publicKey;
  }
});

it('shows the lines of a receiver unbroken, on a page that does not scroll sideways', async () => {
  const viewport = { width: 360, height: 700 };
  const path = `subscriptions/${webhook}?tab=receiver`;
  const page = await installation.openAs(customer, path, { viewport });
  const program = page.getByRole('region', { name: 'A receiver in Node.js' });
  await program.focus();
  await page.keyboard.press('ArrowRight');
  const scrolled = () => page.evaluate('document.activeElement.scrollLeft');
  await expect.poll(scrolled).toBeGreaterThan(0);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
});

describe('the receiver of a subscription', () => {
  let directory: string;
  let program: ChildProcess;
  let port: number;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'receiver-'));
    port = await freePort();
  });
  afterEach(async () => {
    const ended = once(program, 'exit');
    program.kill();
    await ended;
    await rm(directory, { recursive: true });
  });

  /** Starts the program shown on the page. */
  async function start(page: Page, environment: Record<string, string>): Promise<void> {
    const text = await page.getByLabel('A receiver in Node.js').innerText();
    const file = join(directory, 'receiver.mjs');
    await writeFile(file, text.replace('listen(4000)', `listen(${port})`));
    program = spawn(process.execPath, [file], {
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const isUp = async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST' }).catch(
        () => undefined,
      );
      return answer?.status;
    };
    // It refuses unsigned requests.
    await expect.poll(isUp, { timeout: 20_000 }).toBe(400);
    const targetUrl = `http://127.0.0.1:${port}/hook`;
    await customer.client.put(`/v1/webhooks/${webhook}`, { targetUrl });
  }

  it.each(['hmac-sha256', 'ed25519'])('verifies what is sent with %s', async (signature) => {
    await customer.client.put(`/v1/webhooks/${webhook}`, { signature });
    const key = (await customer.client.get(`/v1/webhooks/${webhook}/secret`)).json<{
      secret?: string;
      publicKey?: string;
    }>();
    const page = await installation.openAs(customer, `subscriptions/${webhook}?tab=receiver`);
    await start(page, {
      WEBHOOK_SECRET: key.secret ?? '',
      WEBHOOK_PUBLIC_KEY: key.publicKey ?? '',
    });
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('Your server accepted this notification with 204').waitFor();
  });

  it('comes in five languages', async () => {
    const page = await installation.openAs(customer, `subscriptions/${webhook}?tab=receiver`);
    await start(page, { WEBHOOK_SECRET: 'whsec_AAAA' });
    for (const language of ['Node.js', 'Python', 'Go', 'Java', 'PHP']) {
      await page.getByRole('tab', { name: language }).click();
      const text = await page.getByLabel(`A receiver in ${language}`).innerText();
      for (const header of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
        expect(text).toContain(header);
      }
    }
  });
});
