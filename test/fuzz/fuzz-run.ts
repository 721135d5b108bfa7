import { Agent } from 'node:http';
import {
  accountWithEverything,
  type Belongings,
  type Installation,
  makeAnother,
  REFERENCES,
} from '../support/belongings.js';
import { type DescribedApi, type DescribedOperation, placesOf } from '../support/described-api.js';
import { type Answer, basic, request as ask } from '../support/http.js';
import { forbiddenIn, unexplainedIn, unexplainedResults } from './judgement.js';
import { type FuzzRequest, tellOf } from './requests.js';
import type { Rules } from './rules.js';
import { standInOf } from './schema-values.js';

/** An account is replaced after this many requests: by then it may be paused, off, or full. */
const ACCOUNT_LASTS = 200;

const OF_USERS = ['users', 'users/credentials'];

/** What no answer may reveal. */
const INSIDES =
  /\bat .+\.[jt]s:\d|node_modules|\b(?:SELECT|INSERT|UPDATE|DELETE) .*\b(?:FROM|INTO|SET)\b|QueryFailed|TypeError|ECONN/;

/** Sends requests one after the other, and checks each answer against the description. */
export class FuzzRun {
  /** How often each operation was called, and how often it succeeded. */
  readonly counts = new Map<string, { asked: number; done: number }>();
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  private readonly api: DescribedApi;
  private owner: Belongings | undefined;
  private victim: Belongings | undefined;
  private sentForOwner = 0;
  private accounts = 0;

  constructor(
    private readonly installation: Installation,
    private readonly rules: Rules,
    private readonly platformAuth: string,
  ) {
    this.api = rules.api;
  }

  /** @throws Error with the request, the answer and the difference */
  async check(given: FuzzRequest): Promise<void> {
    const { operation } = given;
    const account = await this.accountFor(operation);
    const request = filled(given, account);
    const answer = await this.send(request, operation, account);
    const faults = this.faultsOf(request, answer);
    await this.settle(operation, answer);
    this.count(operation, answer);
    if (faults.length === 0) return;
    const told = `${answer.status} ${JSON.stringify(answer.headers)} ${answer.text.slice(0, 1_500)}`;
    throw new Error(`${faults.join('; ')}\n  ${tellOf(request)}\n  ${told}`);
  }

  close(): void {
    this.agent.destroy();
  }

  private async send(request: FuzzRequest, one: DescribedOperation, account: Belongings) {
    const { query, headers, body, path, asHead } = request;
    // Otherwise it would revoke its own credential.
    const isOfUsers = one.path.startsWith('/v1/users');
    const isForPlatform = this.api.isForPlatform(one) || isOfUsers || account === this.victim;
    const authorization = basic(isForPlatform ? this.platformAuth : account.auth);
    const search = query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');
    const bytes = body && bytesOf(body);
    return ask(
      asHead ? 'HEAD' : one.method,
      `${this.installation.url}${path}${search && `?${search}`}`,
      {
        headers: { authorization, ...(Object.fromEntries(headers) as Record<string, string>) },
        agent: this.agent,
        ...(bytes && { body: bytes }),
      },
    );
  }

  private faultsOf(request: FuzzRequest, answer: Answer): string[] {
    const { operation, path, asHead } = request;
    const method = asHead ? 'HEAD' : operation.method;
    const faults = this.api.faultsOf(method, path, answer);
    const { status, headers, text } = answer;
    if (status >= 500) faults.push('the fault is ours');
    if (headers['x-request-id'] === undefined) faults.push('X-Request-Id is missing');
    if (headers['x-content-type-options'] !== 'nosniff') faults.push('nosniff is missing');
    if (status >= 400 && INSIDES.test(text)) faults.push('the answer tells of our insides');
    const forbidden = forbiddenIn(request, this.rules);
    const isDone = status < 300;
    if (isDone && forbidden.length > 0) faults.push(`was done, though ${forbidden.join(', ')}`);
    if (!isDone && forbidden.length === 0)
      faults.push(...unexplainedIn(request, answer, this.rules));
    if (isDone && !asHead) faults.push(...unexplainedResults(request, answer, this.rules));
    return faults;
  }

  /** Reads and locks other users than the caller. */
  private async accountFor({ path }: DescribedOperation): Promise<Belongings> {
    if (path.startsWith('/v1/users')) return (this.victim ??= await this.newAccount(OF_USERS));
    if (this.sentForOwner >= ACCOUNT_LASTS) this.owner = undefined;
    if (!this.owner) this.sentForOwner = 0;
    this.sentForOwner += 1;
    return (this.owner ??= await this.newAccount());
  }

  private async newAccount(places?: readonly string[]): Promise<Belongings> {
    this.accounts += 1;
    const account = await accountWithEverything(this.installation, `fuzz-${this.accounts}`, places);
    // An account lasts a few requests only, and just a finished delivery can be redelivered.
    if (this.accounts % 2 === 0) {
      await this.installation.database.query(
        `UPDATE deliveries SET state = 'cancelled', reason = 'requested', completed_at = now()
         WHERE id = $1`,
        [account.ids.get('deliveries') ?? null],
      );
    }
    return account;
  }

  /** Replaces missing or full resources before the next request. */
  private async settle({ method, path }: DescribedOperation, answer: Answer): Promise<void> {
    if (answer.text.includes('webhook_limit_reached')) this.owner = undefined;
    if (method !== 'DELETE' || answer.status >= 300) return;
    const place = placesOf(path).at(-1)?.place;
    if (place === undefined) return;
    if (OF_USERS.includes(place)) this.victim = undefined;
    // Its parts are gone with it.
    else if (place === 'applications') this.owner = undefined;
    else if (this.owner) await makeAnother(this.owner, place, this.installation);
  }

  private count({ operation: { operationId } }: DescribedOperation, { status }: Answer): void {
    const count = this.counts.get(operationId) ?? { asked: 0, done: 0 };
    count.asked += 1;
    if (status < 300) count.done += 1;
    this.counts.set(operationId, count);
  }
}

/** The request with the account's ids in place of names. */
function filled(request: FuzzRequest, { ids }: Belongings): FuzzRequest {
  const { path, body } = request;
  const idAt = (whole: string, place: string): string => ids.get(place) ?? whole;
  const text = Object.values(REFERENCES).reduce(
    (all, place) => all.replaceAll(standInOf(place), ids.get(place) ?? '0'),
    body?.text ?? '',
  );
  return {
    ...request,
    path: path.replaceAll(/\{([a-z/]+)\}/g, idAt),
    ...(body && { body: { ...body, text } }),
  };
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function bytesOf({ text, hasBrokenBytes }: NonNullable<FuzzRequest['body']>): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  if (hasBrokenBytes !== true) return bytes;
  const middle = bytes.length >> 1;
  return Buffer.concat([bytes.subarray(0, middle), Buffer.from([0xff]), bytes.subarray(middle)]);
}
