import { call } from './call.js';
import type { Installation } from './installation.js';
import type { Producer } from './producer.js';
import { PLATFORM } from './template.js';

const PASSWORD = 'account-secret';

/** Another account, with its own producer and one subscription for each of its paths. */
export interface Account {
  id: string;
  auth: string;
  paths: readonly string[];
  /** Ids of the subscriptions, in the order of the paths. */
  subscriptions: readonly string[];
  producer: Producer;
}

/**
 * Creates an account. Inserts its subscriptions with SQL, because they may exceed the API's limit. @param targets the
 * base URL of the paths; by default the receiver
 */
export async function makeAccount(
  installation: Installation,
  username: string,
  paths: readonly string[],
  targets = installation.receiver.url,
): Promise<Account> {
  const platform = { url: installation.frontDoor.url, auth: PLATFORM };
  const body = { username, password: PASSWORD };
  const { href } = await call<{ href: string }>(platform, 'POST', '/v1/users', body);
  const id = href.slice(href.lastIndexOf('/') + 1);
  const rows = await installation.postgres.query<{ id: string }>(
    `INSERT INTO webhooks (account_id, event, resource, target_url, enabled, secret)
     SELECT $1, 'cdrCreated', 'all', $2 || path, true, 'whsec_' || repeat('A', 44)
     FROM unnest($3::text[]) WITH ORDINALITY AS p(path, place) ORDER BY place RETURNING id`,
    [id, targets, paths],
  );
  return {
    ...{ id, paths, auth: `${username}:${PASSWORD}` },
    subscriptions: rows.map((row) => row.id),
    producer: installation.producerFor(id),
  };
}

/** The address of the n-th of {@link healthyAccounts}. */
export const addressOf = (n: number): string => `127.0.1.${String(n)}`;

/** Accounts that report an event a second, with one target each, on a host of its own. @param hostOf how its URL names the host */
export async function healthyAccounts(
  installation: Installation,
  count: number,
  hostOf = addressOf,
): Promise<Account[]> {
  const accounts: Account[] = [];
  for (let n = 1; n <= count; n += 1) {
    const address = addressOf(n);
    const url = (await installation.receiver.listen({ address })).replace(address, hostOf(n));
    const name = `healthy-${String(n)}`;
    accounts.push(await makeAccount(installation, name, [`/${name}`], url));
  }
  for (const { producer } of accounts) producer.start(1);
  return accounts;
}

/** Deletes the subscriptions of an account through the API, which cancels pending deliveries. */
export async function unsubscribe(
  { frontDoor }: Installation,
  { auth, subscriptions }: Account,
): Promise<void> {
  const customer = { url: frontDoor.url, auth };
  for (const id of subscriptions) await call(customer, 'DELETE', `/v1/webhooks/${id}`);
}

/** How many promised notifications of these accounts never arrived. */
export function lostOf(accounts: readonly Account[], { receiver }: Installation): number {
  const confirmed = receiver.confirmed();
  return accounts
    .flatMap(({ producer, paths }) => [...producer.promised(paths)])
    .filter((key) => !confirmed.has(key)).length;
}
