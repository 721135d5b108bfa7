import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { idOf, type Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import {
  accessibilityFaultsOf,
  ConsoleInstallation,
  type Customer,
  loadingOf,
} from '../support/console.js';

let installation: ConsoleInstallation;
let customer: Customer;
/** Has nothing yet. */
let newcomer: Customer;
let operator: Customer;
/** The pages of the customer. */
let pages: string[];

beforeAll(async () => {
  installation = await ConsoleInstallation.start({ DELIVERY_RETRY_SCHEDULE: '1h' });
  const { receiver } = installation;
  receiver.answering = ({ path }, response) =>
    response.writeHead(path === '/gone' ? 410 : 500).end();
  customer = await installation.aCustomer();
  newcomer = await installation.aCustomer();
  operator = await installation.anOperator();
  const { client } = customer;
  const read = async <Row>(path: string) => (await client.get(path)).json<Row[]>();
  const shop = { name: 'Shop', voiceUrl: 'https://shop.example.com/voice' };
  const application = idOf((await client.post('/v1/applications', shop)).json());
  // Before there is a subscription that can still get it.
  await installation.report(customer);
  const failing = await installation.aSubscription(customer);
  const paused = await installation.aSubscription(customer, { event: 'smsdlr', name: 'Messages' });
  await client.post(`/v1/webhooks/${paused}/pause`, {});
  const rated = { event: 'cdrRated', enabled: false };
  const off = await installation.aSubscription(customer, rated);
  const atGone = { event: 'cdrRated', targetUrl: `${receiver.url}/gone` };
  const gone = await installation.aSubscription(customer, atGone);
  await installation.report(customer);
  for (const event of [
    { event: 'smsdlr', resource: 'sms', accountId: customer.id, data: {} },
    { event: 'cdrRated', resource: 'call', accountId: customer.id, data: {} },
  ]) {
    expect((await installation.platform.post('/v1/events', event)).status).toBe(202);
  }
  const deliveries = await eventually(
    () => read<Schemas['Delivery']>('/v1/deliveries'),
    (all) => all.length === 3 && all.filter(({ attempts }) => attempts > 0).length === 2,
    { ms: 20_000 },
  );
  const events = await read<{ id: string }>('/v1/events');
  expect(events.length).toBe(4);
  const tabs = ['', '?tab=settings', '?tab=secret', '?tab=receiver'];
  pages = [
    ...['overview', 'access', 'audit', 'subscriptions', 'applications', 'deliveries', 'events'],
    ...['parked', 'exhausted', 'cancelled'].map((state) => `deliveries?state=${state}`),
    ...deliveries.flatMap(({ id }) => [`deliveries/${id}`, `deliveries?open=${id}`]),
    ...events.map(({ id }) => `events/${id}`),
    ...['unmatched=true', `missedBy=${failing}`].map((filter) => `events?${filter}`),
    ...[failing, paused, off, gone].map((id) => `subscriptions/${id}`),
    ...tabs.map((tab) => `subscriptions/${failing}${tab}`),
    ...['', '?tab=settings'].map((tab) => `applications/${application}${tab}`),
  ];
});
afterAll(() => installation.stop());
afterEach(() => installation.closePages());

/** The same user with a credential that may only read. */
async function reading(user: Customer): Promise<Customer> {
  const password = `${user.username}-reads`;
  const body = { name: 'Dashboard', scope: 'read', password };
  const answer = await user.client.post(`/v1/users/${user.id}/credentials`, body);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return { ...user, password };
}

/**
 * What a page and its palette offer that would change something, or show a secret: buttons, also those in menus, links
 * and commands by their verbs, and forms.
 */
const offersOf = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const nameOf = (element) => (element.ariaLabel ?? element.textContent).trim();
    const all = (selectors) => [...document.querySelectorAll(selectors)];
    const isThere = (element) => element.checkVisibility() || element.closest('[role=menu]');
    const verbs = '(Add|Cancel|Close account|Count|Create|Delete|Disable|Edit|Enable|Erase|Lock|New|' +
      'Pause|Replace|Resume|Reveal|Revoke|Rotate|Save|Send|Unlock)';
    const begins = new RegExp('^' + verbs + '\\\\b');
    const says = /\\b(create|send)\\b|^New /i;
    return [
      ...all('button, [role=option]').filter((each) => isThere(each) && begins.test(nameOf(each))),
      ...all('#main a').filter((each) => isThere(each) && says.test(nameOf(each))),
      ...all('nav a').filter((each) => nameOf(each) === 'Signing secret'),
      ...all('form.settings'),
    ].map((each) => each.localName + ' ' + nameOf(each).slice(0, 40));
  })()`);

/** Opens pages one after the other, and clicks nothing. @returns what is offered or refused, with its page */
async function faultsOf(user: Customer, paths: readonly string[]): Promise<string[]> {
  const page = await installation.openAs(await reading(user), '');
  const loaded = loadingOf(page);
  const command = page.getByRole('option', { name: 'Log out' });
  const faults: string[] = [];
  for (const path of paths) {
    const note = (what: string): number => faults.push(`${path}: ${what}`);
    const refused = (response: { status(): number; url(): string }) =>
      response.status() === 403 && note(`403 ${new URL(response.url()).pathname}`);
    page.on('response', refused);
    await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/console/${path}`)})`);
    await loaded();
    await page.locator('#main h1').waitFor();
    await loaded();
    for (const offer of await offersOf(page)) note(offer);
    await page.keyboard.press('Control+k');
    await command.waitFor();
    for (const offer of await offersOf(page)) note(`the palette: ${offer}`);
    await page.keyboard.press('Escape');
    await command.waitFor({ state: 'detached' });
    page.off('response', refused);
    if ((await page.getByTitle('may only read').count()) === 0) note('nothing says why');
  }
  return [...new Set(faults)];
}

it('a session that may only read offers no change, shows no secret, and sends no request that is refused', async () => {
  expect(await faultsOf(customer, pages)).toEqual([]);
}, 180_000);

it('a session that may only read offers nothing on the pages of a new account', async () => {
  const paths = ['overview', 'deliveries', 'events', 'subscriptions', 'applications', 'audit'];
  const unmade = ['subscriptions/new', 'applications/new'];
  expect(await faultsOf(newcomer, [...paths, ...unmade])).toEqual([]);
}, 180_000);

it('an operator whose session may only read is offered no change of accounts', async () => {
  const { id } = customer;
  const ofAccount = pages.map((path) => `${path}${path.includes('?') ? '&' : '?'}accountId=${id}`);
  const own = ['overview', 'deliveries', 'events', 'subscriptions', 'applications'];
  const paths = [
    ...['installation', 'load', 'accounts', `accounts/${id}`, 'access', 'audit'],
    ...own.map((path) => `${path}?accountId=${operator.id}`),
    ...['subscriptions/new', 'applications/new'],
    ...ofAccount.filter((path) => !path.startsWith('access')),
  ];
  expect(await faultsOf(operator, paths)).toEqual([]);
}, 180_000);

it('says on a page that would create something that the session may only read', async () => {
  const page = await installation.openAs(await reading(newcomer), 'subscriptions/new');
  await page.getByText('This session may only read.').waitFor();
  expect(await accessibilityFaultsOf(page)).toEqual([]);
});

it('a link that may only read takes the offers from the other tabs of its browser, too', async () => {
  const page = await installation.openAs(newcomer, 'subscriptions');
  const offer = page.getByRole('link', { name: 'New subscription' });
  await offer.waitFor();
  const link = await newcomer.client.post(`/v1/users/${newcomer.id}/links`, {});
  const other = await page.context().newPage();
  const [, path] = link.json<{ url: string }>().url.split('/console/');
  await other.goto(`${installation.api.url}/console/${path}`);
  await other.getByTitle('may only read').waitFor();
  await offer.waitFor({ state: 'detached' });
});
