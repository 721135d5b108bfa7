import { createServer, type Server } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '#tools/net';
import { ConsoleInstallation, type Customer } from '../support/console.js';

let installation: ConsoleInstallation;
/** A page of another site, which shows the console in a frame. */
let portal: Server;
let portalUrl: string;
let framedUrl = '';

beforeAll(async () => {
  // 127.0.0.1 and localhost are different sites, and browsers trust both without TLS.
  const port = await freePort();
  portalUrl = `http://127.0.0.1:${port}`;
  portal = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(
      `<!doctype html><title>Portal</title><iframe src="${framedUrl}" width="1100" height="700"></iframe>`,
    );
  });
  await new Promise<void>((resolve) => portal.listen(port, '127.0.0.1', resolve));
  installation = await ConsoleInstallation.start({ CONSOLE_FRAME_ANCESTORS: portalUrl });
});
afterAll(async () => {
  portal.close();
  await installation.stop();
});
afterEach(() => installation.closePages());

/** The path of a link below `/console/`, with its fragment. */
async function aLink({ client, username }: Customer, body: object = {}): Promise<string> {
  const { json } = await client.post(`/v1/users/${username}/links`, body);
  return json<{ url: string }>().url.split('/console/')[1]!;
}

describe('a link', () => {
  it('opens its page as its user, and disappears from the address', async () => {
    const customer = await installation.aCustomer();
    const page = await installation.open(
      await aLink(customer, { path: '/deliveries?state=parked' }),
    );
    await page.getByText('Nothing matches').waitFor();
    await page.getByText(customer.username).waitFor();
    expect(page.url()).toBe(`${installation.api.url}/console/deliveries?state=parked`);
    await page.reload();
    await page.getByText('Nothing matches').waitFor();
  });

  it('tells that it has been used', async () => {
    const customer = await installation.aCustomer();
    const link = await aLink(customer);
    const page = await installation.open(link);
    await page.getByText(customer.username).waitFor();
    await page.context().clearCookies();
    await page.goto('about:blank');
    await page.goto(`${installation.api.url}/console/${link}`);
    await page.getByText('The link has been used or has expired.').waitFor();
    await page.getByLabel('Username').waitFor();
    expect(page.url()).not.toContain('#');
  });

  it('replaces the user of an open page when it is pasted into its address', async () => {
    const [first, second] = [await installation.aCustomer(), await installation.aCustomer()];
    const page = await installation.openAs(first, 'deliveries');
    const [, fragment] = (await aLink(second)).split('#');
    await page.evaluate(`location.hash = '#${fragment!}'`);
    await page.getByText(second.username).waitFor();
    expect(page.url()).not.toContain('#');
  });
});

it('a page of another site shows the console in a frame, in a session of its own', async () => {
  const customer = await installation.aCustomer();
  await installation.aSubscription(customer, { name: 'Shown in a frame' });
  const { port } = new URL(installation.api.url);
  const link = await aLink(customer, { path: '/subscriptions', scope: 'manage' });
  framedUrl = `http://localhost:${port}/console/${link}`;
  const page = await installation.open('');
  await page.goto(portalUrl);
  const frame = page.frameLocator('iframe');
  await frame.getByText('Shown in a frame').waitFor();
  await frame.getByText(customer.username).waitFor();
  // The cookie is for frames in this page alone.
  const cookies = await page.context().cookies(`http://localhost:${port}`);
  expect(cookies.find(({ name }) => name === 'switchhook-session')).toMatchObject({
    sameSite: 'None',
    secure: true,
    partitionKey: 'http://127.0.0.1',
  });
  // It changes things, too.
  await frame.getByText('Shown in a frame').click();
  await frame.getByRole('button', { name: 'Pause' }).first().click();
  await expect
    .poll(
      async () =>
        (await customer.client.get('/v1/webhooks')).json<{ paused?: boolean }[]>()[0]!.paused,
    )
    .toBe(true);
  // Other pages may not be framed.
  const guide = page.context().waitForEvent('page');
  await frame.getByRole('link', { name: 'Receiving guide' }).click();
  await (await guide).getByRole('heading', { name: 'Receiving notifications' }).waitFor();
  await page.goto(`http://localhost:${port}/console/`);
  await page.getByLabel('Username').waitFor();
});
