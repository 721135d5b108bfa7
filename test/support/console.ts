import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Page,
  Request,
} from 'playwright-core';
import { expect } from 'vitest';
import type { Schemas } from '#libs/client';
import { eventually } from '#tools/eventually';
import { createUser } from './accounts.js';
import { complaintsOn, startBrowser } from './browser.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import type { Environment } from './environment.js';
import { type Client, clientOf } from './http.js';
import { apiInProcess, type Running, workerInProcess } from './in-process.js';
import { type Receiver, startReceiver } from './receiver.js';

type Cookies = Parameters<BrowserContext['addCookies']>[0];

/** A page that a test uses. */
interface OpenPage {
  page: Page;
  complaints: string[];
  /** Whether its context has no options of its own, so that later tests can use it, too. */
  isPlain: boolean;
}

const VIEWPORT = { width: 1_200, height: 800 };
/** The events that tests listen to. */
const EVENTS = ['dialog', 'download', 'request', 'requestfailed', 'requestfinished'];

/** A user of the console. */
export interface Customer {
  id: string;
  username: string;
  password: string;
  client: Client;
}

/** An installation with a worker, a receiver and a browser, shared by the tests of a file. */
export class ConsoleInstallation {
  readonly complaints: string[] = [];
  private users = 0;
  private readonly sessions = new Map<Customer, Promise<Cookies>>();
  private readonly inUse: OpenPage[] = [];
  private readonly idle: OpenPage[] = [];

  private constructor(
    readonly database: TestDatabase,
    readonly api: Running,
    private readonly worker: Running,
    readonly receiver: Receiver,
    readonly browser: Browser,
    readonly platform: Client,
  ) {}

  static async start(environment: Environment = {}): Promise<ConsoleInstallation> {
    const database = await createTestDatabase();
    const all = {
      DATABASE_URL: database.url,
      DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
      ...environment,
    };
    const [api, worker, receiver, browser, { auth }] = await Promise.all([
      apiInProcess(all),
      workerInProcess(all),
      startReceiver(),
      startBrowser(),
      createUser(database, 'switch', 'platform'),
    ]);
    const platform = clientOf(api.url, auth);
    return new ConsoleInstallation(database, api, worker, receiver, browser, platform);
  }

  async stop(): Promise<void> {
    await Promise.all(this.idle.map(({ page }) => page.context().close()));
    await Promise.all([this.api.stop(), this.worker.stop(), this.receiver.close()]);
    await this.database.drop();
  }

  /** Closes the pages of a test. @throws if the browser reported an error on one */
  async closePages(): Promise<void> {
    await Promise.all(this.inUse.splice(0).map((one) => this.close(one)));
    expect(this.complaints.splice(0)).toEqual([]);
  }

  private async close({ page, isPlain, complaints }: OpenPage): Promise<void> {
    const context = page.context();
    // One that could not be loaded, or shows something else, has no storage to clear.
    const isOurs = page.url().startsWith(this.api.url);
    if (!isPlain || page.isClosed() || !isOurs) return context.close();
    const others = context.pages().filter((other) => other !== page);
    await Promise.all(others.map((other) => other.close()));
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    for (const event of EVENTS) page.removeAllListeners(event);
    await page.evaluate('localStorage.clear(); sessionStorage.clear()');
    await page.goto('about:blank');
    await context.clearCookies();
    this.complaints.push(...complaints.splice(0));
    this.idle.push({ page, isPlain, complaints });
  }

  aCustomer(): Promise<Customer> {
    return this.aUser('account');
  }

  /** A user of the role `platform`. */
  anOperator(): Promise<Customer> {
    return this.aUser('platform');
  }

  private async aUser(role: 'account' | 'platform'): Promise<Customer> {
    const username = `${role === 'account' ? 'customer' : 'operator'}-${(this.users += 1)}`;
    const { id, auth } = await createUser(this.database, username, role);
    const client = clientOf(this.api.url, auth);
    return { id, username, password: `${username}-secret`, client };
  }

  /** @returns the id of a subscription to call records, by default with the receiver as its target */
  async aSubscription({ client }: Customer, fields: object = {}): Promise<string> {
    const body = { event: 'cdrCreated', resource: 'all', targetUrl: this.receiver.url, ...fields };
    const answer = await client.post('/v1/webhooks', body);
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return answer.json<{ href: string }>().href.split('/').at(-1)!;
  }

  /** Reports a call. @param data as JSON text */
  async report({ id }: Customer, data = '{}'): Promise<void> {
    const event = `{"event":"cdrCreated","resource":"call","accountId":${id},"data":${data}}`;
    const answer = await this.platform.post('/v1/events', event);
    expect(answer.status).toBe(202);
  }

  /** The newest delivery, once it has a state and its first attempt is recorded. */
  async delivery({ client }: Customer, state: string): Promise<Schemas['Delivery']> {
    const newest = async () =>
      (await client.get('/v1/deliveries?limit=1')).json<Schemas['Delivery'][]>()[0];
    const isThere = (one?: Schemas['Delivery']) => one?.state === state && one.attempts > 0;
    return (await eventually(newest, isThere, { ms: 20_000 }))!;
  }

  /** A page of the console, in a browser context without cookies. */
  async open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    return (await this.load(path, options, [])).page;
  }

  /**
   * A page of the console, as a customer who is logged in; all pages share a session. Its stream is open, so the page
   * loads nothing on its own.
   */
  async openAs(user: Customer, path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const { page, loaded } = await this.load(path, options, await this.sessionOf(user));
    // A locator looks only twice a second after a while.
    await page.evaluate(`(async () => {
      while (!document.querySelector('.stream.live')) {
        if (performance.now() > 20_000) throw new Error('the stream does not open');
        await new Promise(requestAnimationFrame);
      }
    })()`);
    await loaded();
    return page;
  }

  private async load(path: string, options: BrowserContextOptions, cookies: Cookies) {
    const { viewport = VIEWPORT, ...others } = options;
    const isPlain = Object.keys(others).length === 0;
    // A new page takes the browser three times as much CPU as one that it has already shown.
    const one = (isPlain && this.idle.pop()) || (await this.aPage(others, isPlain));
    this.inUse.push(one);
    const { page } = one;
    if (viewport) await page.setViewportSize(viewport);
    await page.context().addCookies(cookies);
    const loaded = loadingOf(page);
    await page.goto(`${this.api.url}/console/${path}`);
    return { page, loaded };
  }

  private async aPage(options: BrowserContextOptions, isPlain: boolean): Promise<OpenPage> {
    // The environment's locale may be an invalid language tag.
    const context = await this.browser.newContext({ locale: 'en-US', ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const complaints = complaintsOn(page);
    page.on('close', () => this.complaints.push(...complaints));
    return { page, isPlain, complaints };
  }

  private sessionOf(user: Customer): Promise<Cookies> {
    const session = this.sessions.get(user) ?? this.startSession(user);
    this.sessions.set(user, session);
    return session;
  }

  /** Logs in without the form, which only the tests of the login need. */
  private async startSession({ username, password }: Customer): Promise<Cookies> {
    const headers = { 'sec-fetch-site': 'same-origin' };
    const pair = { username, password };
    const answer = await clientOf(this.api.url).post('/v1/session', pair, { headers });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    const [, name = '', value = ''] = /^([^=]+)=([^;]+)/.exec(
      answer.headers['set-cookie']!.at(-1)!,
    )!;
    return [{ name, value, url: this.api.url, httpOnly: true, sameSite: 'Strict' }];
  }
}

/** Follows what a page loads, besides its stream, which does not end. @returns waits until it has loaded everything */
export function loadingOf(page: Page): () => Promise<void> {
  const underWay = new Set<Request>();
  page.on('request', (request) => {
    if (!request.url().endsWith('/v1/stream')) underWay.add(request);
  });
  page.on('requestfinished', (request) => underWay.delete(request));
  page.on('requestfailed', (request) => underWay.delete(request));
  return async () => {
    do {
      await eventually(() => underWay.size === 0);
      // What it has loaded may make it load more. Chromium keeps an idle page without any work waiting for ever.
      await page.evaluate('new Promise((idle) => requestIdleCallback(idle, { timeout: 2_000 }))');
    } while (underWay.size > 0);
  };
}

export async function logIn(
  page: Page,
  { username, password }: Pick<Customer, 'username' | 'password'>,
): Promise<void> {
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** Opens the menu of the user and the browser. */
export async function openUserMenu(page: Page): Promise<void> {
  await page.locator('.who').getByRole('button').click();
}

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What another theme can change. */
export const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/** axe's findings on a page, as lines. @param rules by default all that axe checks */
export async function accessibilityFaultsOf(page: Page, rules?: string[]): Promise<string[]> {
  if (await page.evaluate('!("axe" in window)')) await page.evaluate(await readFile(axe, 'utf8'));
  return page.evaluate(async (runOnly) => {
    interface Axe {
      run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
    }
    const options = runOnly ? { runOnly } : {};
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run(options);
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  }, rules);
}

/** The bound for layout shifts without input, as a sum of scores. */
const MOST_MOVED = 0.02;

/** The layout shifts without input, as lines; empty if their sum is within the bound. */
export async function movesOf(page: Page): Promise<string[]> {
  const moves = await page.evaluate<{ score: number; what: string }[]>(`(async () => {
    const nameOf = ({ node }) => node?.outerHTML?.slice(0, 80) ?? node?.textContent ?? 'something removed';
    const wayOf = ({ previousRect, currentRect }) =>
      [previousRect, currentRect].map(({ x, y, width, height }) => [x, y, width, height].join(' ')).join(' to ');
    // What has just changed is drawn in the next frame.
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
    const observer = new PerformanceObserver(() => undefined);
    observer.observe({ type: 'layout-shift', buffered: true });
    const shifts = observer.takeRecords().filter(({ hadRecentInput }) => !hadRecentInput);
    observer.disconnect();
    return shifts.map(({ value, sources }) => ({
      score: value,
      what: sources.map((source) => nameOf(source) + ' from ' + wayOf(source)).join(', '),
    }));
  })()`);
  const sum = moves.reduce((before, { score }) => before + score, 0);
  return sum > MOST_MOVED ? moves.map(({ score, what }) => `${score}: ${what}`) : [];
}

/** Changes the theme of a page that follows the system, and waits until its colors have changed. */
export async function changeTheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.evaluate(`Promise.all(document.getAnimations()
    .filter((animation) => animation instanceof CSSTransition)
    .map(({ finished }) => finished.catch(() => undefined)))`);
}

/** By how many CSS pixels a page is wider than its window. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
}
