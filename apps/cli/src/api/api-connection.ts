import { STATUS_CODES } from 'node:http';
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import { type Dispatcher, request } from 'undici';
import { hasRawLogin } from '#libs/kernel';
import { CommandFailure } from '../failure.js';
import { parsed, readPassword } from '../input.js';

/** The API answers in well under a second, and reports an unavailable database in a few. */
const ANSWER_TIMEOUT_MS = 30_000;

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

interface Answer {
  text: string;
  /** The path of the next page of a list. */
  next: string | undefined;
}

/** The API cannot be reached, or is temporarily unavailable. */
export class UnavailableFailure extends CommandFailure {}

/** The API answered with an error. */
export class RefusedFailure extends CommandFailure {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** A connection to a running API as one user. */
export class ApiConnection {
  private readonly headers: Record<string, string>;

  /** @param account that all requests are about, for a router to decide by */
  constructor(
    private readonly api: URL,
    { username, password }: { username: string; password: string },
    account?: string,
  ) {
    this.headers = {
      authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
      ...(account !== undefined && { 'switchhook-account': account }),
    };
  }

  /** @throws CommandFailure with the API's message when the request is refused or not answered */
  async ask(method: Method, path: string, body?: string, signal?: AbortSignal): Promise<Answer> {
    const { statusCode, headers, body: answer } = await this.exchange(method, path, body, signal);
    const text = await answer.text().catch((error: unknown) => this.fail(error));
    if (statusCode >= 300) throw this.refusal(statusCode, text);
    const [, next] = /<([^>]*)>; *rel="next"/.exec(String(headers.link ?? '')) ?? [];
    return { text, next: next && next.slice(next.indexOf('v1/')) };
  }

  /** Like {@link ask}, for JSON answers. The caller knows the type. */
  async json<Body>(method: Method, path: string, body?: object): Promise<Body> {
    const { text } = await this.ask(method, path, body && JSON.stringify(body));
    const value = parsed(text);
    if (value === undefined) throw this.refusal(200, text);
    return value as Body;
  }

  /**
   * Opens an endless, or a long, answer.
   * @param silenceMs how long it may stay silent
   * @throws UnavailableFailure when a later try may succeed; CommandFailure when the request is refused
   */
  async open(
    path: string,
    headers: Record<string, string>,
    signal: AbortSignal,
    silenceMs = ANSWER_TIMEOUT_MS,
  ): Promise<Readable> {
    const answer = await request(this.urlOf(path), {
      headers: { ...headers, ...this.headers },
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: silenceMs,
      signal,
    }).catch((error: unknown) => this.fail(error));
    if (answer.statusCode === 200) return answer.body;
    const refusal = this.refusal(answer.statusCode, await answer.body.text().catch(() => ''));
    throw answer.statusCode < 500 ? refusal : new UnavailableFailure(refusal.message);
  }

  private async exchange(
    method: Method,
    path: string,
    body: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Dispatcher.ResponseData> {
    return request(this.urlOf(path), {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        // Makes the API refuse a filter that cannot match.
        ...(method === 'GET' && { prefer: 'handling=strict' }),
        ...this.headers,
      },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
    }).catch((error: unknown) => this.fail(error));
  }

  /** Below the base URL's path, with or without a trailing slash. */
  private urlOf(path: string): URL {
    return new URL(path, this.api.href.replace(/\/*$/, '/'));
  }

  private fail(error: unknown): never {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UnavailableFailure(`${this.api.origin} cannot be reached (${code ?? message}).`);
  }

  private refusal(status: number, text: string): RefusedFailure {
    const why = errorIn(text) ?? `it answered ${`${status} ${STATUS_CODES[status] ?? ''}`.trim()}.`;
    return new RefusedFailure(status, `${this.api.origin} refused the request: ${why}`);
  }
}

function errorIn(text: string): string | undefined {
  const { error } = (parsed(text) ?? {}) as { error?: unknown };
  return typeof error === 'string' ? error : undefined;
}

/** The users of an `npm start` with its own database. Their passwords are public. */
const TRIAL = {
  reporter: { username: 'reporter', password: 'reporter-secret' },
  account: { username: 'demo', password: 'demo-secret' },
};
const TRIAL_USERS = [
  ...Object.values(TRIAL),
  { username: 'operator', password: 'operator-secret' },
  { username: 'switch', password: 'switch-secret' },
];

export interface ApiOptions {
  url?: string;
  user: string;
  passwordStdin?: true;
  /** Of commands about one account. */
  account?: string;
}

/** Adds the options of a command that calls a running API. */
export function withApiOptions(command: Command, role: keyof typeof TRIAL): Command {
  const whose =
    role === 'reporter' ? 'a user of the role reporter or platform' : 'the user of the account';
  return command
    .option('--url <url>', 'the API (default: on this machine, at HOST and PORT)')
    .option('--user <name>', whose, TRIAL[role].username)
    .option('--password-stdin', "read the user's password from standard input");
}

/** Connects to the API that the options name. Wrong options end the command. */
export async function apiOf(options: ApiOptions, command: Command): Promise<ApiConnection> {
  const api =
    options.url === undefined ? await apiOfThisMachine() : givenUrl('url', options.url, command);
  if (api.search !== '' || api.hash !== '') {
    command.error("error: option '--url' must have no query and no fragment");
  }
  // Otherwise the failure would name a part of the password as the host.
  if (hasRawLogin(api.href)) {
    command.error("error: option '--url' must have no credentials (see --user)");
  }
  if (/\/v1\/*$/.test(api.pathname)) {
    command.error("error: option '--url' must be the address without /v1");
  }
  const password = await passwordOf(options, api, command);
  return new ApiConnection(api, { username: options.user, password }, options.account);
}

/** Parses a URL option. Commander does not, because its errors repeat the value, even a password. */
export function givenUrl(option: string, text: string, command: Command): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    return command.error(`error: option '--${option}' must be an http or https URL`);
  }
  if (url.username !== '' || url.password !== '') {
    return command.error(`error: option '--${option}' must have no credentials (see --user)`);
  }
  return url;
}

async function apiOfThisMachine(): Promise<URL> {
  const { readSettings } = await import('#libs/runtime/config');
  const { HOST, PORT } = readSettings(['HOST', 'PORT']);
  // The wildcard address works only for listening.
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST;
  return new URL(`http://${host.includes(':') ? `[${host}]` : host}:${PORT}`);
}

async function passwordOf(options: ApiOptions, api: URL, command: Command): Promise<string> {
  if (options.passwordStdin) return readPassword();
  const trial = TRIAL_USERS.find(({ username }) => username === options.user);
  if (trial && isLoopback(api)) return trial.password;
  const users = TRIAL_USERS.map(({ username }) => username).join(', ');
  return command.error(
    `error: --password-stdin is required, except for the users of npm start on this machine: ${users}`,
  );
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}
