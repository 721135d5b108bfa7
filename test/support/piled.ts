import type { TestDatabase } from './database.js';
import type { Client } from './http.js';

/** How many children each resource of a full account has. */
export const MANY = 10_000;

/** A full account, and one of its resources by their places in paths. */
export interface Piled {
  ids: Map<string, string>;
  /** A subscription that the event can be sent to. */
  free: string;
}

/**
 * Gives an account {@link MANY} children of every resource that has any: of applications, deleted subscriptions,
 * events, the deliveries of one event and of one subscription, attempts, replays, audit entries, and so on.
 */
export async function pileUp(
  database: TestDatabase,
  { accountId, platform }: { accountId: string; platform: Client },
): Promise<Piled> {
  const one = async (sql: string, ...values: unknown[]): Promise<string> => {
    const [row] = await database.query<{ id: string }>(sql, values);
    return row!.id;
  };
  const series = `generate_series(1, ${MANY}) n`;
  const application = await one(
    `INSERT INTO applications (user_id, name, api_type, voice_url, environment_id)
     VALUES ($1, 'first', 'webapi', 'http://v/', 1) RETURNING id`,
    accountId,
  );
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const subscriptions = (count: string, of: string | null, deleted: string) =>
    database.query<{ id: string }>(
      `INSERT INTO webhooks (account_id, application_id, event, resource, target_url, enabled, secret, deleted_at)
       SELECT $1, $2, 'cdrCreated', 'all', 'https://t.example/', true, $3, ${deleted}
       FROM ${count} RETURNING id`,
      [accountId, of, secret],
    );
  const [webhook] = await subscriptions('generate_series(1, 9) n', null, 'NULL');
  const [ofApplication] = await subscriptions('generate_series(1, 10) n', application, 'NULL');
  for (const of of [null, application]) await subscriptions(series, of, 'now()');
  const body = { event: 'cdrCreated', resource: 'call', applicationId: application, data: {} };
  const event = (await platform.post('/v1/events', body)).json<{ id: string }>().id;
  const free = await one(
    `INSERT INTO webhooks (account_id, event, resource, target_url, enabled, secret)
     VALUES ($1, 'cdrCreated', 'all', 'https://t.example/', true, $2) RETURNING id`,
    accountId,
    secret,
  );
  const delivery = await one(
    `UPDATE deliveries SET state = 'exhausted', attempts = ${MANY}, completed_at = now(), claimed_until = NULL
     WHERE webhook_id = $1 RETURNING id`,
    webhook!.id,
  );
  const statements: [sql: string, ...values: unknown[]][] = [
    [
      `INSERT INTO applications (user_id, name, api_type, voice_url, environment_id, deleted_at)
       SELECT $1, 'a', 'webapi', 'http://v/', 1, CASE WHEN n > ${MANY} THEN now() END
       FROM generate_series(1, ${2 * MANY}) n`,
      accountId,
    ],
    [
      `INSERT INTO events (id, account_id, application_id, event, resource, occurred_at, created_at, data, unmatched)
       SELECT new_uuid(now(), n), $1, $2, 'cdrCreated', 'call', now(), now(), '{}', n % 2 = 0 FROM ${series}`,
      accountId,
      application,
    ],
    // All of one event and one subscription.
    [
      `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, state, attempts, created_at)
       SELECT (left($1::text, 19) || '8' || right(md5($1::text || n), 15))::uuid, $1::uuid, $2, $3, 'cdrCreated', 1,
         'exhausted', 1, now()
       FROM ${series}`,
      event,
      webhook!.id,
      accountId,
    ],
    [
      `INSERT INTO deliveries (id, event_id, webhook_id, account_id, event, generation, next_attempt_at, created_at)
       SELECT new_uuid(now(), row_number() OVER ()), id, $1, $2, 'cdrCreated', 1, now(), now()
       FROM events WHERE account_id = $2::bigint`,
      webhook!.id,
      accountId,
    ],
    [
      `INSERT INTO attempts (delivery_id, take, number, at, duration_ms, status)
       SELECT $1, n, n, now(), 1, 500 FROM ${series}`,
      delivery,
    ],
    [
      `INSERT INTO attempt_counts (account_id, webhook_id, at, outcome, bin, count)
       SELECT $1, w, date_trunc('minute', now()) - n * interval '1 minute', '2xx', 1, 1
       FROM unnest(ARRAY[0, $2::bigint]) w, ${series}`,
      accountId,
      webhook!.id,
    ],
    [
      `INSERT INTO attempt_counts (account_id, webhook_id, at, outcome, bin, count)
       SELECT -1, 0, at, outcome, bin, count FROM attempt_counts WHERE account_id = $1 AND webhook_id = 0`,
      accountId,
    ],
    [
      `INSERT INTO replays (id, webhook_id, account_id, since, until, states, state, completed_at, total)
       SELECT new_uuid(now() - interval '2 hours', n), w, $2, now(), now(), '{exhausted}', 'completed', now(), 0
       FROM unnest(ARRAY[NULL, $1::bigint]) w, ${series}`,
      webhook!.id,
      accountId,
    ],
    [
      `INSERT INTO audit (account_id, actor, action, resource_id)
       SELECT $1, 'cli', 'webhook.update', $2 FROM ${series}`,
      accountId,
      webhook!.id,
    ],
    [
      `INSERT INTO idempotency_keys (account_id, key, fingerprint, href)
       SELECT $1, 'k' || n, '', '/' FROM ${series}`,
      accountId,
    ],
    [
      `INSERT INTO credentials (user_id, hash) SELECT $1, decode(lpad(to_hex(n), 64, '0'), 'hex')
       FROM generate_series(1, 98) n`,
      accountId,
    ],
    [
      `INSERT INTO sessions (hash, credential_id)
       SELECT decode(lpad(to_hex(n), 64, '0'), 'hex'), (SELECT min(id) FROM credentials WHERE user_id = $1) FROM generate_series(1, 20) n`,
      accountId,
    ],
    [`INSERT INTO environments (name, type, billable) SELECT 'e', 'special', false FROM ${series}`],
    [
      `INSERT INTO users (username, role, status, salt) SELECT 'u' || n, 'account', 'active', '' FROM ${series}`,
    ],
  ];
  for (const [sql, ...values] of statements) await database.query(sql, values);
  const replay = await one(
    `INSERT INTO replays (id, account_id, since, until, states, total, parts)
     SELECT new_uuid(now(), 1), $1, now(), now(), '{exhausted}', 0, ${MANY} RETURNING id`,
    accountId,
  );
  await database.query(
    `INSERT INTO replay_parts (replay_id, account_id, webhook_id, generation, after)
     SELECT $1, $2, id, 1, new_uuid(now(), 0) FROM webhooks WHERE account_id = $2 LIMIT ${MANY}`,
    [replay, accountId],
  );
  await database.query('ANALYZE');
  const credential = await one(
    'SELECT max(id) AS id FROM credentials WHERE user_id = $1',
    accountId,
  );
  return {
    free,
    ids: new Map([
      ['users', accountId],
      ['users/credentials', credential],
      ['environments', '1'],
      ['applications', application],
      ['applications/webhooks', ofApplication!.id],
      ['webhooks', webhook!.id],
      ['events', event],
      ['deliveries', delivery],
      ['replays', replay],
    ]),
  };
}
