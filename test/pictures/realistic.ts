import { createUser } from '../support/accounts.js';
import type { TestDatabase } from '../support/database.js';
import { partitionsOf } from '../support/past.js';

/** An hour of a company's traffic, for pictures. Only ids and times differ between runs. */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const STEP_MS = 5 * MINUTE_MS;

const APPLICATIONS = [
  ...['Shop', 'Support line', 'Courier app', 'Surveys', 'Two-factor codes', 'Sales dialer'],
  ...['Field service', 'Reception', 'Billing line', 'Marketing', 'Alarm desk', 'Lab'],
];

type How =
  'well' | 'slow' | 'down' | 'timeout' | 'dns' | 'gone' | 'busy' | 'paused' | 'off' | 'bad';

interface Given {
  name: string;
  host: string;
  path: string;
  event: 'cdrCreated' | 'cdrRated' | 'smsdlr';
  resource: string;
  how: How;
  /** Notifications in the hour. */
  count: number;
  /** Index of its application; absent for the whole account. */
  application?: number;
}

const of = (
  name: string,
  url: string,
  event: Given['event'],
  resource: string,
  how: How,
  count: number,
  application?: number,
): Given => {
  const [host = '', ...path] = url.split('/');
  const level = application === undefined ? {} : { application };
  return { name, host, path: `/${path.join('/')}`, event, resource, how, count, ...level };
};

const SUBSCRIPTIONS: readonly Given[] = [
  of(
    'CRM – all call records',
    'crm.acme.example/hooks/switchhook',
    'cdrCreated',
    'call,sms',
    'well',
    620,
  ),
  of('Billing', 'billing.acme.example/cdr', 'cdrRated', 'all', 'well', 700),
  of('Delivery receipts', 'sms.acme.example/dlr', 'smsdlr', 'sms', 'well', 810),
  of('Data warehouse', 'ingest.acme.example/cdr', 'cdrCreated', 'all', 'timeout', 410),
  of('Down since the migration', 'api.acme.example/x', 'cdrCreated', 'call', 'down', 190),
  of('Typo in the name', 'hooks.acme-typo.invalid/x', 'cdrCreated', 'sms', 'dns', 90),
  of('Old CRM', 'old-crm.acme.example/', 'cdrCreated', 'call', 'gone', 30),
  of('Slack bot', 'hooks.acme.example/slack', 'smsdlr', 'sms', 'busy', 80),
  of('Transcripts', 'nlp.acme.example/transcripts', 'cdrCreated', 'transcription', 'slow', 120),
  of('Fraud detection', 'fraud.acme.example/v2/events', 'cdrCreated', 'call', 'well', 300),
  of('Order status', 'shop.acme.example/hooks/sms', 'smsdlr', 'sms', 'well', 240, 0),
  of('Shop analytics', 'analytics.acme.example/shop', 'cdrCreated', 'all', 'well', 150, 0),
  of('Ticket system', 'support.acme.example/calls', 'cdrCreated', 'call', 'well', 210, 1),
  of('Call quality', 'quality.acme.example/cdr', 'cdrRated', 'call', 'slow', 90, 1),
  of('Courier tracking', 'track.acme.example/sms', 'smsdlr', 'sms', 'well', 260, 2),
  of('Survey results', 'surveys.acme.example/in', 'cdrCreated', 'call', 'paused', 60, 3),
  of('Login codes', 'auth.acme.example/dlr', 'smsdlr', 'sms', 'well', 330, 4),
  of('Dialer pacing', 'dialer.acme.example/cdr', 'cdrCreated', 'call', 'well', 200, 5),
  of('Technician app', 'field.acme.example/hooks', 'smsdlr', 'sms', 'bad', 70, 6),
  of('Front desk', 'desk.acme.example/calls', 'cdrCreated', 'call', 'well', 80, 7),
  of('Invoices', 'billing.acme.example/line', 'cdrRated', 'call', 'well', 130, 8),
  of('Campaign report', 'mail.acme.example/dlr', 'smsdlr', 'sms', 'off', 0, 9),
  of('Alarm log', 'alarms.acme.example/in', 'cdrCreated', 'call', 'well', 40, 10),
  of('Alarm bills', 'billing.acme.example/alarms', 'cdrRated', 'all', 'well', 30, 10),
  of('Lab', 'lab.acme.example/switchhook', 'cdrCreated', 'all', 'well', 25, 11),
];

/** Pseudo-random numbers from 0 to 1, always the same. */
function randomly(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

interface Attempt {
  at: number;
  ms: number;
  status?: number;
  error?: string;
  body?: string;
}

interface Made {
  webhook: number;
  at: number;
  state: string;
  reason?: string;
  next?: number;
  attempts: Attempt[];
}

/** When the failing targets began to fail. */
const brokenSince = (now: number): number => now - 22 * MINUTE_MS;

function delivered(how: How, at: number, now: number, random: () => number): Omit<Made, 'webhook'> {
  const broken = brokenSince(now);
  const quick = 30 + 220 * random() ** 2 + (random() < 0.02 ? 900 : 0);
  const good = (ms: number): Attempt => ({ at, ms, status: random() < 0.3 ? 204 : 200 });
  const success = (ms: number, before: Attempt[] = []) => ({
    at,
    state: 'succeeded',
    attempts: [...before, { ...good(ms), at: (before.at(-1)?.at ?? at) + 30_000 * before.length }],
  });
  const failure = (one: Omit<Attempt, 'at'>) => {
    const attempts = [0, 40, 120, 280].flatMap((s) =>
      at + s * 1_000 < Math.min(now - 20_000, broken + 6 * MINUTE_MS)
        ? [{ ...one, at: at + s * 1_000 }]
        : [],
    );
    return { at, state: 'pending', next: now + 143_000, attempts };
  };
  switch (how) {
    case 'slow':
      return success(700 + 1_900 * random());
    case 'down':
      return at < broken
        ? success(quick)
        : failure({
            ms: 60,
            status: 500,
            body: '{"error":"relation \\"calls\\" does not exist","trace":"8d1c0f"}',
          });
    case 'timeout':
      return at < broken ? success(quick + 300) : failure({ ms: 10_000, error: 'timeout' });
    case 'dns':
      return failure({ ms: 4, error: 'dns' });
    case 'gone':
      return at < broken
        ? success(quick)
        : {
            at,
            state: 'cancelled',
            reason: 'disabled',
            // The first ones after the failure began.
            attempts: at < broken + 4 * MINUTE_MS ? [{ at, ms: 40, status: 410 }] : [],
          };
    case 'busy':
      return at < now - 2 * MINUTE_MS
        ? success(quick)
        : { at, state: 'pending', next: now + 41_000, attempts: [{ at, ms: 30, status: 429 }] };
    case 'paused':
      return at < now - 15 * MINUTE_MS ? success(quick) : { at, state: 'pending', attempts: [] };
    case 'bad':
      return random() < 0.7
        ? success(quick)
        : {
            at,
            state: 'exhausted',
            reason: 'no_attempts_left',
            attempts: [0, 10, 60].map((s) => ({
              at: at + s * 1_000,
              ms: 40,
              status: 422,
              body: '<html><body><h1>422 Unprocessable Entity</h1></body></html>',
            })),
          };
    default:
      return random() < 0.012
        ? success(quick, [{ at, ms: 80, status: 502, body: 'Bad Gateway' }])
        : success(quick);
  }
}

/** A failed delivery that was sent again manually, among the first rows of the list. */
function failedJustNow(now: number): Made {
  const webhook = SUBSCRIPTIONS.findIndex(({ how }) => how === 'down');
  const body = '{"error":"relation \\"calls\\" does not exist","trace":"8d1c0f"}';
  const attempts = [9_000, 5_000].map((ago) => ({ at: now - ago, ms: 60, status: 500, body }));
  return { webhook, at: now - 9_000, state: 'pending', next: now + 143_000, attempts };
}

/** The columns of a subscription that describe its condition. */
function conditionOf(how: How, now: number): Record<string, unknown> {
  const since = new Date(brokenSince(now));
  switch (how) {
    case 'down':
    case 'timeout':
    case 'dns':
      return {
        failures: 10,
        openings: 3,
        failing_since: since,
        open_until: new Date(now + (how === 'dns' ? 34_000 : 143_000)),
        backlog: true,
      };
    case 'gone':
      return { enabled: false, disabled_reason: 'gone', disabled_at: since };
    case 'busy':
      return { hold_until: new Date(now + 41_000), backlog: true };
    case 'paused':
      return { paused: true, backlog: true };
    case 'off':
      return { enabled: false };
    default:
      return {};
  }
}

const KINDS = { call: 'cdr', sms: 'sms', transcription: 'trn', all: 'cdr' } as const;

/** Fills a database. @returns the id of the company's account */
export async function realisticInstallation(database: TestDatabase): Promise<string> {
  const random = randomly(7);
  const now = Date.now();
  const { id: accountId } = await createUser(database, 'acme');
  for (const username of ['globex', 'initech', 'umbrella']) await createUser(database, username);
  await database.query(
    `INSERT INTO account_loads (at, account_id, reported, delivered, failed, busy_ms)
     SELECT date_trunc('hour', now()), id, reported, delivered, failed, busy_ms
     FROM (VALUES ('acme', 8120, 14210, 612, 5140000), ('globex', 2041, 2039, 4, 920000),
       ('initech', 512, 1024, 0, 310000), ('umbrella', 45, 45, 0, 9000))
       AS load (username, reported, delivered, failed, busy_ms) JOIN users USING (username)`,
    [],
  );
  const applications: string[] = [];
  for (const [index, name] of APPLICATIONS.entries()) {
    const host = name.toLowerCase().replaceAll(' ', '-');
    const rows = await database.query<{ id: string }>(
      `INSERT INTO applications (user_id, name, api_type, voice_url, messaging_url, environment_id, created_at, updated_at)
       VALUES ($1, $2, 'scripting', $3, $4, 1, $5, $5) RETURNING id`,
      [
        ...[accountId, name, `https://voice.acme.example/${host}`],
        ...[`https://sms.acme.example/${host}`, new Date(now - (20 + index) * 24 * HOUR_MS)],
      ],
    );
    applications.push(rows[0]!.id);
  }
  const webhooks: string[] = [];
  for (const [index, given] of SUBSCRIPTIONS.entries()) {
    const columns: Record<string, unknown> = {
      account_id: accountId,
      ...(given.application !== undefined && { application_id: applications[given.application] }),
      ...{ name: given.name, event: given.event, resource: given.resource },
      target_url: `https://${given.host}${given.path}`,
      enabled: true,
      secret: `whsec_${Buffer.alloc(32, index + 1).toString('base64')}`,
      created_at: new Date(now - (14 + index) * 24 * HOUR_MS),
      updated_at: new Date(now - (2 + index) * HOUR_MS),
      ...conditionOf(given.how, now),
    };
    const names = Object.keys(columns);
    const rows = await database.query<{ id: string }>(
      `INSERT INTO webhooks (${names.join(', ')})
       VALUES (${names.map((_, at) => `$${at + 1}`).join(', ')}) RETURNING id`,
      Object.values(columns),
    );
    webhooks.push(rows[0]!.id);
  }
  const made = SUBSCRIPTIONS.flatMap(({ how, count }, webhook) =>
    Array.from({ length: count }, (): Made => {
      // Most of it in the middle of the hour.
      const share = random() < 0.7 ? random() : (random() + random()) / 2;
      const at = now - HOUR_MS + Math.floor(share * HOUR_MS);
      return { webhook, ...delivered(how, Math.min(at, now - 1_500), now, random) };
    }),
  )
    .concat(failedJustNow(now))
    .sort((one, other) => one.at - other.at);
  // The hour may have begun yesterday.
  await partitionsOf(database, 1);
  await store(database, { accountId, applications, webhooks, made, now, random });
  await storeAudit(database, { accountId, applications, webhooks, now });
  return accountId;
}

interface Traffic {
  accountId: string;
  applications: string[];
  webhooks: string[];
  made: Made[];
  now: number;
  random: () => number;
}

async function idsFor(database: TestDatabase, times: readonly number[]): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `SELECT new_uuid(at, n) AS id FROM unnest($1::timestamptz[]) WITH ORDINALITY AS t(at, n) ORDER BY n`,
    [times.map((at) => new Date(at))],
  );
  return rows.map(({ id }) => id);
}

async function store(
  database: TestDatabase,
  { accountId, applications, webhooks, made, now, random }: Traffic,
): Promise<void> {
  const times = made.map(({ at }) => at);
  const [eventIds, deliveryIds] = [await idsFor(database, times), await idsFor(database, times)];
  const events = made.map(({ webhook, at }, index) => {
    const { event, resource, application } = SUBSCRIPTIONS[webhook]!;
    const [about = 'call'] = resource.split(',');
    const kind = about === 'all' ? 'call' : (about as keyof typeof KINDS);
    return {
      id: eventIds[index],
      account_id: accountId,
      application_id:
        application === undefined
          ? applications[Math.floor(random() * applications.length)]
          : applications[application],
      event,
      resource: kind,
      producer_id: `${KINDS[kind]}-${(0x8c1f0000 + index).toString(16)}`,
      occurred_at: new Date(at - 400),
      created_at: new Date(at),
      data: dataOf(kind, event, index, random),
    };
  });
  await insert(database, 'events', events);
  await insert(
    database,
    'deliveries',
    made.map(({ webhook, at, state, reason, next, attempts }, index) => ({
      ...{ id: deliveryIds[index], event_id: eventIds[index], webhook_id: webhooks[webhook] },
      ...{ account_id: accountId, event: SUBSCRIPTIONS[webhook]!.event, generation: 1 },
      ...{ attempts: attempts.length, takes: attempts.length, state, reason: reason ?? null },
      next_attempt_at: state === 'pending' ? new Date(next ?? at) : null,
      created_at: new Date(at),
      completed_at: state === 'pending' ? null : new Date((attempts.at(-1)?.at ?? at) + 300),
    })),
  );
  const attempts = made.flatMap((one, index) =>
    one.attempts.map((attempt, number) => ({ ...attempt, one, index, number: number + 1 })),
  );
  await insert(
    database,
    'attempts',
    attempts.map(({ one, index, number, at, ms, status, error, body }) => ({
      ...{ delivery_id: deliveryIds[index], take: number, number, at: new Date(at) },
      ...{ duration_ms: Math.round(ms), status: status ?? null, error: error ?? null },
      address: error === 'dns' ? null : '203.0.113.17',
      response_headers:
        status === undefined
          ? null
          : JSON.stringify({
              'content-type': 'application/json',
              server: 'nginx',
              date: new Date(at).toUTCString(),
            }),
      response_body: status === undefined ? null : (body ?? (status === 204 ? '' : '{"ok":true}')),
      sent: sentOf(one.webhook, Math.round(ms), error),
    })),
  );
  await countAttempts(database, accountId, webhooks, attempts, now, random);
  await storeResults(database);
}

/** When the subscriptions last succeeded, and what they have lost. */
async function storeResults(database: TestDatabase): Promise<void> {
  await database.query(
    `INSERT INTO webhook_successes (webhook_id, at)
     SELECT webhook_id, max(completed_at) FROM deliveries WHERE state = 'succeeded' GROUP BY webhook_id`,
  );
  await database.query(
    `INSERT INTO webhook_losses (webhook_id, at, count, last_at)
     SELECT webhook_id, date_trunc('hour', min(completed_at)), count(*), max(completed_at)
     FROM deliveries WHERE state = 'exhausted' GROUP BY webhook_id`,
  );
}

function sentOf(webhook: number, ms: number, error: string | undefined): string {
  const { host, path } = SUBSCRIPTIONS[webhook]!;
  const phases = error === 'dns' ? '12     ' : `12 3 21 34 ${Math.max(ms - 58, 1)} 1`;
  return `https://${host}${path}\nSwitchhook/1.1\nv1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=\n\n${phases}`;
}

/** The bin of an answer time, in the workers' scale: each is a fifth wider than the one before. */
const binOf = (ms: number): number => 1 + Math.floor(Math.log(Math.max(ms, 1)) / Math.log(1.2));

/** The counts of workers, including the day before. */
async function countAttempts(
  database: TestDatabase,
  accountId: string,
  webhooks: readonly string[],
  attempts: readonly (Attempt & { one: Made })[],
  now: number,
  random: () => number,
): Promise<void> {
  const counts = new Map<string, number>();
  const add = (webhook: string, at: number, attempt: Attempt, count = 1) => {
    const { status, error, ms } = attempt;
    const outcome = status === undefined ? error : `${Math.floor(status / 100)}xx`;
    const bin = status === undefined ? 0 : binOf(ms);
    const key = [webhook, Math.floor(at / STEP_MS) * STEP_MS, outcome, bin].join(' ');
    counts.set(key, (counts.get(key) ?? 0) + count);
  };
  for (const attempt of attempts) {
    for (const id of ['0', webhooks[attempt.one.webhook]!]) add(id, attempt.at, attempt);
  }
  for (let at = now - 24 * HOUR_MS; at < now - HOUR_MS; at += STEP_MS) {
    const rate = 120 + 110 * Math.sin((at / HOUR_MS / 24) * 2 * Math.PI) + 60 * random();
    for (let n = 0; n < 12; n += 1) {
      add('0', at, { at, ms: 30 + 400 * random() ** 2, status: 200 }, Math.round(rate / 12));
    }
    if (random() < 0.3) add('0', at, { at, ms: 50, status: 502 }, 2);
  }
  await insert(
    database,
    'attempt_counts',
    [...counts].flatMap(([key, count]) => {
      const [webhook, at, outcome, bin] = key.split(' ');
      const counted = { at: new Date(Number(at)), outcome, bin: Number(bin), count };
      // Those of the account are also those of the installation.
      const owners = webhook === '0' ? [accountId, '-1'] : [accountId];
      return owners.map((owner) => ({ account_id: owner, webhook_id: webhook, ...counted }));
    }),
  );
}

/** Changes by a person, by a program of the customer and by the service. */
async function storeAudit(
  database: TestDatabase,
  { accountId, applications, webhooks, now }: Omit<Traffic, 'made' | 'random'>,
): Promise<void> {
  const at = (name: string) => webhooks[SUBSCRIPTIONS.findIndex((one) => one.name === name)]!;
  const entries: [hoursAgo: number, action: string, id: string, fields?: string[]][] = [
    [300, 'application.create', applications[0]!],
    [260, 'webhook.create', at('Billing')],
    [120, 'webhook.update', at('Billing'), ['targetUrl', 'retry']],
    [70, 'webhook.rotate_secret', at('Billing')],
    [28, 'application.update', applications[1]!, ['voiceUrl']],
    [(now - brokenSince(now)) / HOUR_MS, 'webhook.disable', at('Old CRM')],
    [0.25, 'webhook.pause', at('Survey results')],
    [0.2, 'webhook.update', at('Data warehouse'), ['headers', 'name']],
  ];
  const ids = await idsFor(
    database,
    entries.map(([hoursAgo]) => now - hoursAgo * HOUR_MS),
  );
  const rows = entries.map(([hoursAgo, action, resource_id, fields = []], index) => {
    const isService = action === 'webhook.disable';
    return {
      ...{ id: ids[index], created_at: new Date(now - hoursAgo * HOUR_MS), account_id: accountId },
      ...(isService
        ? { actor: 'system' }
        : { user_id: accountId, actor: 'acme', address: '198.51.100.24', request_id: ids[index] }),
      ...{ action, resource_id, fields },
    };
  });
  // The trigger would set the time.
  await database.query('ALTER TABLE audit DISABLE TRIGGER audit_signed');
  for (const row of rows) await insert(database, 'audit', [row]);
  await database.query('ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_signed');
}

function dataOf(kind: string, event: string, index: number, random: () => number): string {
  const number = () => `+1407555${String(Math.floor(random() * 9_000) + 1_000)}`;
  const seconds = Math.floor(20 + random() * 600);
  const price =
    event === 'cdrRated' ? { price: `0.${String(100 + Math.floor(random() * 800))}` } : {};
  if (kind === 'sms') {
    return JSON.stringify({
      messageId: `m-${88_000 + index}`,
      from: 'ACME',
      to: number(),
      status: 'delivered',
      ...price,
    });
  }
  return JSON.stringify({
    callId: `c-${88_000 + index}`,
    from: number(),
    to: number(),
    durationSeconds: seconds,
    ...price,
  });
}

/** Inserts rows in batches. */
async function insert(
  database: TestDatabase,
  table: string,
  rows: readonly Record<string, unknown>[],
): Promise<void> {
  const names = Object.keys(rows[0]!).join(', ');
  for (let at = 0; at < rows.length; at += 1_000) {
    await database.query(
      `INSERT INTO ${table} (${names})
       SELECT ${names} FROM json_populate_recordset(NULL::${table}, $1::json)`,
      [JSON.stringify(rows.slice(at, at + 1_000))],
    );
  }
}
