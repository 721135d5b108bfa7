import type { TestDatabase } from './database.js';

/** Inserts the rows of other contexts that tests of one context need. */

let counter = 0;

/** An account without credentials. @returns its id */
export async function anAccount(database: TestDatabase): Promise<string> {
  counter += 1;
  return firstId(
    await database.query(
      `INSERT INTO users (username, role, status, salt) VALUES ($1, 'account', 'active', '')
       RETURNING id`,
      [`account-${process.pid}-${counter}`],
    ),
  );
}

/** An application of an account. @returns its id */
export async function anApplication(database: TestDatabase, accountId: string): Promise<string> {
  return firstId(
    await database.query(
      `INSERT INTO applications (user_id, name, api_type, voice_url, environment_id)
       VALUES ($1, 'app', 'scripting', 'http://example.com/', 1) RETURNING id`,
      [accountId],
    ),
  );
}

/** A subscription; by default an enabled one of the account to `cdrCreated` of `all`. @returns its id */
export async function aSubscription(
  database: TestDatabase,
  accountId: string,
  columns: Record<string, unknown> = {},
): Promise<string> {
  const row: Record<string, unknown> = {
    account_id: accountId,
    event: 'cdrCreated',
    resource: 'all',
    target_url: 'http://127.0.0.1:1024/',
    enabled: true,
    secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    ...columns,
  };
  const names = Object.keys(row);
  const places = names.map((_, index) => `$${index + 1}`).join(', ');
  return firstId(
    await database.query(
      `INSERT INTO webhooks (${names.join(', ')}) VALUES (${places}) RETURNING id`,
      Object.values(row),
    ),
  );
}

/** Applications of an account, each with ten subscriptions whose payloads have `payloadBytes`. */
export async function largeSubscriptions(
  database: TestDatabase,
  accountId: string,
  { applications, payloadBytes }: { applications: number; payloadBytes: number },
): Promise<void> {
  await database.query(
    `WITH apps AS (
       INSERT INTO applications (user_id, name, api_type, voice_url)
       SELECT $1, 'a', 'scripting', 'http://v/' FROM generate_series(1, $2::int) RETURNING id
     )
     INSERT INTO webhooks (account_id, application_id, event, resource, target_url, payload,
       enabled, secret)
     SELECT $1, apps.id, 'smsdlr', 'all', 'https://t.example/', $3, true, 'whsec_'
     FROM apps, generate_series(1, 10)`,
    [accountId, applications, JSON.stringify({ filler: 'x'.repeat(payloadBytes) })],
  );
}

/** An event of a subscription's account and its delivery, by default due now. @returns its id */
export async function aPendingDelivery(
  database: TestDatabase,
  webhookId: string,
  columns: { generation?: number; next_attempt_at?: Date } = {},
): Promise<string> {
  return firstId(
    await database.query(
      `WITH w AS (SELECT * FROM webhooks WHERE id = $1),
       e AS (
         INSERT INTO events (id, account_id, event, resource, occurred_at, created_at, data)
         SELECT new_uuid(now(), 1), account_id, event, 'call', now(), now(), '{}' FROM w
         RETURNING id
       )
       INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation,
         next_attempt_at, created_at)
       SELECT new_uuid(now(), 2), e.id, w.id, w.account_id, w.event,
         coalesce($2::integer, w.generation), coalesce($3::timestamptz, now()), now()
       FROM w, e RETURNING id`,
      [webhookId, columns.generation ?? null, columns.next_attempt_at?.toISOString() ?? null],
    ),
  );
}

function firstId(rows: { id?: string }[]): string {
  const id = rows[0]?.id;
  if (id === undefined) throw new Error('nothing was inserted');
  return id;
}
