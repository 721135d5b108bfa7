import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ConsoleInstallation, logIn, openUserMenu } from '../support/console.js';
import { clientOf } from '../support/http.js';

let installation: ConsoleInstallation;

beforeAll(async () => {
  installation = await ConsoleInstallation.start();
});
afterAll(() => installation.stop());
afterEach(() => installation.closePages());

describe('the login', () => {
  it('refuses a wrong password beside the field', async () => {
    const customer = await installation.aCustomer();
    const page = await installation.open('');
    await logIn(page, { ...customer, password: 'wrong-secret' });
    await page
      .getByText('The username or the password is wrong, or the account is locked.')
      .waitFor();
    expect(await page.getByLabel('Password').getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator(':focus').getAttribute('name')).toBe('password');
  });

  it('tells which field is empty, and sends nothing', async () => {
    const page = await installation.open('');
    await page.getByLabel('Username').waitFor();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Type your username.').waitFor();
    await page.getByText('Type your password.').waitFor();
    expect(await page.locator(':focus').getAttribute('name')).toBe('username');
    expect(requests).toEqual([]);
  });

  it('tells how long to wait after too many failures', async () => {
    const customer = await installation.aCustomer();
    for (let n = 0; n < 10; n += 1) {
      const pair = { username: customer.username, password: `wrong ${n}` };
      await clientOf(installation.api.url).post('/v1/session', pair);
    }
    const page = await installation.open('');
    await logIn(page, customer);
    await page.getByText(/too many failed logins. Try again in \d+ minutes/).waitFor();
  });

  it('opens the requested page, and shows who is logged in', async () => {
    const customer = await installation.aCustomer();
    const page = await installation.open('deliveries?state=parked');
    await logIn(page, customer);
    await page.getByText('Nothing matches').waitFor();
    expect(page.url()).toBe(`${installation.api.url}/console/deliveries?state=parked`);
    expect(await page.title()).toBe('Deliveries – Switchhook');
    await page.getByText(customer.username).waitFor();
    await page.getByText(`Account ${customer.id}`).waitFor();
  });
});

it('keeps the chosen theme', async () => {
  const page = await installation.openAs(await installation.aCustomer(), 'deliveries');
  const background = () =>
    page.evaluate<string>('getComputedStyle(document.body.parentElement).backgroundColor');
  const light = await background();
  await openUserMenu(page);
  await page.getByRole('button', { name: 'Dark' }).click();
  expect(await background()).not.toBe(light);
  await page.reload();
  await page.locator('#main h1').waitFor();
  expect(await background()).not.toBe(light);
});

describe('the session', () => {
  it('survives a reload, and ends with the logout', async () => {
    const page = await installation.openAs(await installation.aCustomer(), 'deliveries');
    await page.reload();
    await openUserMenu(page);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Username').waitFor();
    await page.reload();
    await page.getByLabel('Username').waitFor();
  });

  it('returns to the same page after it expires, without the data of another user', async () => {
    const customer = await installation.aCustomer();
    await installation.aSubscription(customer);
    await installation.report(customer);
    const page = await installation.openAs(customer, 'deliveries?event=cdrCreated');
    await page.getByText('cdrCreated · call').waitFor();
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('Your session has ended.').waitFor();
    await logIn(page, await installation.aCustomer());
    await page.getByText('Nothing matches').waitFor();
    expect(await page.getByText('cdrCreated · call').count()).toBe(0);
    expect(page.url()).toContain('/console/deliveries?event=cdrCreated');
  });

  it('stays open, and says so, when the server does not answer the logout', async () => {
    const page = await installation.openAs(await installation.aCustomer(), 'deliveries');
    await openUserMenu(page);
    const button = page.getByRole('button', { name: 'Log out' });
    await page.route('**/v1/session', (route) => route.abort(), { times: 1 });
    await button.click();
    await page.getByText('You are still logged in. The server did not answer.').waitFor();
    await page.context().clearCookies();
    await button.click();
    await page.getByLabel('Username').waitFor();
  });

  it('is not extended by the background requests of an unattended page', async () => {
    // With options, because the clock stays in the context.
    const options = { colorScheme: 'light' } as const;
    const operator = await installation.anOperator();
    const page = await installation.openAs(operator, 'installation', options);
    await page.getByText('Kept 30 days').waitFor();
    const nextRead = async () => {
      const request = await page.waitForRequest('**/v1/overview');
      return request.headers()['x-unattended'];
    };
    expect(await nextRead()).toBeUndefined();
    await page.clock.install();
    await page.clock.fastForward(60_000);
    await expect.poll(nextRead, { timeout: 20_000 }).toBe('true');
    await page.mouse.move(100, 100);
    await expect.poll(nextRead, { timeout: 20_000 }).toBeUndefined();
  });

  it('is the same in all tabs: a login in one shows the other user in the others', async () => {
    const [first, second] = [await installation.aCustomer(), await installation.aCustomer()];
    await installation.aSubscription(first);
    await installation.report(first);
    const page = await installation.openAs(first, 'deliveries');
    await page.getByText('cdrCreated · call').waitFor();
    const other = await page.context().newPage();
    await page.context().clearCookies();
    await other.goto(`${installation.api.url}/console/deliveries`);
    await logIn(other, second);
    await page.getByText(second.username).waitFor();
    await page.getByText('There are no deliveries yet.').waitFor();
    expect(await page.getByText('cdrCreated · call').count()).toBe(0);
    await openUserMenu(other);
    await other.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Username').waitFor();
  });

  it('ends within two seconds when its credential is revoked', async () => {
    const customer = await installation.aCustomer();
    const page = await installation.openAs(customer, 'deliveries');
    await installation.database.query('DELETE FROM credentials WHERE user_id = $1', [customer.id]);
    const revoked = performance.now();
    await page.getByText('Your session has ended.').waitFor();
    // Plus half a second for a busy machine.
    expect(performance.now() - revoked).toBeLessThan(2_500);
  });

  it('cannot be used by a page of another origin', async () => {
    const elsewhere = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<!doctype html><title>Elsewhere</title>');
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const { port } = elsewhere.address() as AddressInfo;
    try {
      const page = await installation.openAs(await installation.aCustomer(), 'deliveries');
      const stranger = await page.context().newPage();
      await stranger.goto(`http://127.0.0.1:${port}/`);
      const outcomes = await stranger.evaluate(`(async () => {
        const api = '${installation.api.url}';
        const read = await fetch(api + '/v1/session', { credentials: 'include' }).then(
          () => 'read',
          () => 'refused',
        );
        const frame = document.createElement('iframe');
        frame.src = api + '/console/';
        document.body.append(frame);
        await new Promise((resolve) => frame.addEventListener('load', resolve));
        return [read, frame.contentDocument === null ? 'not framed' : 'framed'];
      })()`);
      expect(outcomes).toEqual(['refused', 'not framed']);
      await stranger.close();
    } finally {
      elsewhere.close();
    }
  });
});

describe('the shell', () => {
  it('works with the keyboard: palette, skip link, focus after navigation', async () => {
    const page = await installation.openAs(await installation.aCustomer(), 'nowhere');
    await page.getByText('There is no page').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('deliv');
    await page.keyboard.press('Enter');
    await page.getByText('There are no deliveries yet.').waitFor();
    const focused = page.locator(':focus');
    expect(await focused.innerText()).toBe('Deliveries');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('log out');
    await page.keyboard.press('Enter');
    await page.getByLabel('Username').waitFor();
  });

  it('opens a delivery by its id', async () => {
    const page = await installation.openAs(await installation.aCustomer(), 'deliveries');
    await page.getByRole('button', { name: /Find/ }).click();
    await page.keyboard.type('019a0b1c-2d3e-7f40-8a51-b26c73d84e95');
    await page.keyboard.press('Enter');
    await page.getByText('There is no such delivery.').waitFor();
  });
});

it('shares one stream among all pages of a browser, which goes on when its page is closed', async () => {
  const customer = await installation.aCustomer();
  await installation.aSubscription(customer);
  const page = await installation.openAs(customer, 'deliveries');
  const context = page.context();
  const streams: string[] = [];
  context.on('request', (request) => {
    if (request.url().endsWith('/v1/stream'))
      streams.push(request.headers()['last-event-id'] ?? '');
  });
  const others = await Promise.all(Array.from({ length: 6 }, () => context.newPage()));
  for (const other of others) {
    await other.goto(`${installation.api.url}/console/deliveries`);
    await other.locator('.stream.live').waitFor();
  }
  await installation.report(customer);
  for (const each of [page, ...others]) await each.getByText('cdrCreated · call').waitFor();
  expect(streams).toEqual([]);

  await page.close();
  await expect.poll(() => streams.length).toBe(1);
  // The next page resumes after what it has heard of.
  expect(streams[0]).toMatch(/^\d+-\d+$/);
  await installation.report(customer);
  for (const other of others) {
    await expect.poll(() => other.getByText('cdrCreated · call').count()).toBe(2);
  }
  expect(streams).toHaveLength(1);
});
