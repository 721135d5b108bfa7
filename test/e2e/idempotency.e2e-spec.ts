import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import {
  type DemoAccount,
  faultsOf,
  minimalApplication,
  minimalSubscription,
  startDemoAccount,
} from '../support/demo-account.js';
import { type Answer, type Client, clientOf } from '../support/http.js';
import { apiInProcess } from '../support/in-process.js';
import { pastDeliveries } from '../support/past.js';
import { startApi } from '../support/processes.js';
import { proxyTo } from '../support/tcp-proxy.js';

const SINCE = { since: '2026-01-01T00:00:00Z' };
const APPLICATIONS = '/v1/applications';

let demo: DemoAccount;
let key: string;
let keys = 0;

beforeAll(async () => {
  demo = await startDemoAccount();
});
afterAll(() => demo.stop());
beforeEach(() => {
  keys += 1;
  key = `key-${keys}`;
});

const withKey = (value: string | string[] = key) => ({ headers: { 'idempotency-key': value } });

const post = (path: string, body?: unknown, by: Client = demo.client) =>
  by.post(path, body, withKey());

async function count(table: string): Promise<number> {
  const [row] = await demo.database.query<{ n: number }>(
    `SELECT count(*)::integer AS n FROM ${table}`,
  );
  return row!.n;
}

async function codeOf(answer: Promise<Answer>): Promise<unknown[]> {
  const { status, json } = await answer;
  return [status, json()['code']];
}

/** Creates a finished delivery of a new subscription. */
async function aDelivery(): Promise<{ webhook: string; delivery: string }> {
  const webhook = await demo.aSubscription();
  const id = webhook.slice('/v1/webhooks/'.length);
  // In the present, for which there are partitions.
  const [delivery] = await pastDeliveries(demo.database, id, { daysAgo: 0 });
  return { webhook, delivery: `/v1/deliveries/${delivery!}` };
}

/** The routes that create something: the path, the body, and the table to count. */
const ROUTES: Record<string, () => Promise<{ path: string; body?: object; made: string }>> = {
  'an application': () =>
    Promise.resolve({ path: APPLICATIONS, body: minimalApplication, made: 'applications' }),
  'a subscription': async () => {
    await demo.database.query('UPDATE webhooks SET deleted_at = now()');
    return { path: '/v1/webhooks', body: minimalSubscription, made: 'webhooks' };
  },
  'a subscription of an application': async () => ({
    path: `${await demo.anApplication()}/webhooks`,
    body: minimalSubscription,
    made: 'webhooks',
  }),
  'a test': async () => ({ path: `${await demo.aSubscription()}/test`, made: 'events' }),
  'a replay': async () => ({
    path: `${(await aDelivery()).webhook}/replay`,
    body: SINCE,
    made: 'replays',
  }),
  'a replay of an account': async () => {
    await aDelivery();
    return { path: '/v1/deliveries/redeliver', body: SINCE, made: 'replays' };
  },
  'a redelivery': async () => ({
    path: `${(await aDelivery()).delivery}/redeliver`,
    made: `deliveries WHERE state = 'pending'`,
  }),
  'a delivery sent now': async () => ({
    path: `${(await aDelivery()).delivery}/send`,
    made: `deliveries WHERE state = 'pending'`,
  }),
  'deliveries sent now': async () => {
    await aDelivery();
    return { path: '/v1/deliveries/send', body: SINCE, made: 'replays' };
  },
};

describe.each(Object.keys(ROUTES))('repeating a request for %s', (name) => {
  it('returns the same answer and creates nothing', async () => {
    const { path, body, made } = await ROUTES[name]!();
    const before = await count(made);
    const first = await post(path, body);
    expect([first.status, first.headers['idempotency-replayed']]).toEqual([
      expect.toBeOneOf([200, 202]),
      undefined,
    ]);
    expect(await count(made)).toBe(before + 1);
    // A client repeats once after a lost first answer, and again later.
    for (const again of [path, `${path}/`]) {
      const repeat = await post(again, body);
      expect([repeat.status, repeat.text]).toEqual([first.status, first.text]);
      expect(repeat.headers.location).toBe(first.headers.location);
      expect(repeat.headers['idempotency-replayed']).toBe('true');
    }
    expect(await count(made)).toBe(before + 1);
  });

  it('with another key, or without one, creates another', async () => {
    const { path, body, made } = await ROUTES[name]!();
    await post(path, body);
    // Otherwise there would be nothing to redeliver.
    await demo.database.query(`UPDATE deliveries SET state = 'succeeded', claimed_until = NULL`);
    const before = await count(made);
    const again = await demo.client.post(path, body);
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([
      expect.toBeOneOf([200, 202]),
      undefined,
    ]);
    expect(await count(made)).toBe(before + 1);
  });
});

describe('an idempotency key', () => {
  it('returns the first answer even if the created resource is gone', async () => {
    const first = await post(APPLICATIONS, minimalApplication);
    const { pathname } = new URL(first.json<{ href: string }>().href);
    expect((await demo.client.delete(pathname)).status).toBe(200);
    expect((await post(APPLICATIONS, minimalApplication)).text).toBe(first.text);
  });

  it('belongs to one request: another body or path is answered with 422', async () => {
    await post(APPLICATIONS, minimalApplication);
    const reused = [422, 'idempotency_key_reused'];
    const other = { ...minimalApplication, name: 'Exchange' };
    expect(await codeOf(post(APPLICATIONS, other))).toEqual(reused);
    // Equal as JSON, but not the same text.
    const spaced = JSON.stringify(minimalApplication, undefined, 1);
    expect(await codeOf(post(APPLICATIONS, spaced))).toEqual(reused);
    expect(await codeOf(post(`${await demo.aSubscription()}/test`))).toEqual(reused);
  });

  it('identifies the same request even if its body is compressed', async () => {
    const { gzipSync } = await import('node:zlib');
    const first = await post(APPLICATIONS, minimalApplication);
    const repeat = await demo.client.post(
      APPLICATIONS,
      gzipSync(JSON.stringify(minimalApplication)),
      { headers: { 'idempotency-key': key, 'content-encoding': 'gzip' } },
    );
    expect(repeat.text).toBe(first.text);
  });

  it('belongs to one account', async () => {
    const stranger = clientOf(demo.api.url, (await createUser(demo.database, key)).auth);
    const first = await post(APPLICATIONS, minimalApplication);
    const other = await post(APPLICATIONS, minimalApplication, stranger);
    expect([other.status, other.headers['idempotency-replayed']]).toEqual([200, undefined]);
    expect(other.text).not.toBe(first.text);
  });

  it.each<[string | string[], string]>([
    ['', 'empty'],
    ['a b', 'with a blank'],
    ['k'.repeat(256), 'too long'],
    ['schlüssel', 'not ASCII'],
    [['one', 'two'], 'given twice'],
  ])('%j is refused: %s', async (value, _) => {
    const before = await count('applications');
    const sent = Array.isArray(value) ? value : Buffer.from(value, 'utf8').toString('latin1');
    const answer = await demo.client.post(APPLICATIONS, minimalApplication, withKey(sent));
    expect(faultsOf(answer)).toEqual(['Idempotency-Key format']);
    expect(await count('applications')).toBe(before);
  });

  it.each(['k'.repeat(255), '"8e03978e-40d5-43dd-bc93-6894a57f9324"', '!~'])(
    '%s is accepted',
    async (value) => {
      const answer = () => demo.client.post(APPLICATIONS, minimalApplication, withKey(value));
      expect((await answer()).text).toBe((await answer()).text);
    },
  );

  it('is checked after the faults of the request itself', async () => {
    await post(APPLICATIONS, minimalApplication);
    expect(faultsOf(await post(APPLICATIONS, {}))).toContain('name required');
    expect(await codeOf(post(APPLICATIONS, '{'))).toEqual([400, 'malformed_json']);
    const text = { headers: { 'idempotency-key': 'a b', 'content-type': 'text/plain' } };
    expect((await demo.client.post(APPLICATIONS, '{}', text)).status).toBe(415);
    expect((await clientOf(demo.api.url).post(APPLICATIONS, {}, withKey('a b'))).status).toBe(401);
  });

  it('is ignored by other routes', async () => {
    const path = await demo.anApplication();
    const odd = withKey('a b');
    expect((await demo.client.put(path, { name: 'One' }, odd)).status).toBe(200);
    expect((await demo.client.get(path, odd)).status).toBe(200);
    const webhook = await demo.aSubscription();
    const dryRun = { ...SINCE, dryRun: true };
    expect((await demo.client.post(`${webhook}/replay`, dryRun, odd)).status).toBe(200);
    expect(await count(`idempotency_keys WHERE key = 'a b'`)).toBe(0);
  });
});

describe('a failed request', () => {
  it("that was the caller's fault is not remembered, so it can succeed once the cause is fixed", async () => {
    await demo.aSubscription();
    const missing = { ...minimalApplication, environment: 77 };
    expect((await post(APPLICATIONS, missing)).status).toBe(400);
    await demo.database.query(
      `INSERT INTO environments (id, name, type, billable) VALUES (77, 'later', 'special', false)`,
    );
    expect((await post(APPLICATIONS, missing)).status).toBe(200);
  });

  it('that exceeded a limit is not remembered', async () => {
    await demo.aSubscription();
    for (let n = 1; n < 10; n += 1) await demo.client.post('/v1/webhooks', minimalSubscription);
    expect(await codeOf(post('/v1/webhooks', minimalSubscription))).toEqual([
      403,
      'webhook_limit_reached',
    ]);
    await demo.database.query('UPDATE webhooks SET deleted_at = now() WHERE deleted_at IS NULL');
    expect((await post('/v1/webhooks', minimalSubscription)).status).toBe(200);
  });

  it('that failed for an internal error is not remembered', async () => {
    await demo.database.query(
      'ALTER TABLE applications ADD CONSTRAINT broken CHECK (id < 0) NOT VALID',
    );
    const broken = await post(APPLICATIONS, minimalApplication);
    await demo.database.query('ALTER TABLE applications DROP CONSTRAINT broken');
    expect(broken.status).toBe(500);
    expect((await post(APPLICATIONS, minimalApplication)).status).toBe(200);
  });

  it('whose transaction lost a conflict is retried without the caller noticing', async () => {
    await demo.database.query(`
      CREATE SEQUENCE tries;
      GRANT USAGE ON SEQUENCE tries TO PUBLIC;
      CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('tries') <= 2 THEN RAISE EXCEPTION 'lost' USING ERRCODE = '40001'; END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER lose AFTER INSERT ON applications FOR EACH ROW EXECUTE FUNCTION lose()`);
    const before = await count('applications');
    const first = await post(APPLICATIONS, minimalApplication);
    const tries = await demo.database.query(`SELECT nextval('tries')::integer AS n`);
    await demo.database.query(
      'DROP TRIGGER lose ON applications; DROP FUNCTION lose; DROP SEQUENCE tries',
    );
    expect([first.status, tries]).toEqual([200, [{ n: 4 }]]);
    expect((await post(APPLICATIONS, minimalApplication)).text).toBe(first.text);
    expect(await count('applications')).toBe(before + 1);
  });
});

describe('after 24 hours', () => {
  const age = (interval: string) =>
    demo.database.query(
      `UPDATE idempotency_keys SET created_at = now() - interval '${interval}' WHERE key = $1`,
      [key],
    );

  it('a key can be reused, even for another request, but not earlier', async () => {
    const first = await post(APPLICATIONS, minimalApplication);
    await age('23 hours 59 minutes');
    expect((await post(APPLICATIONS, minimalApplication)).text).toBe(first.text);
    await age('24 hours');
    const next = await post(APPLICATIONS, { ...minimalApplication, name: 'Exchange' });
    expect([next.status, next.headers['idempotency-replayed']]).toEqual([200, undefined]);
    expect(next.text).not.toBe(first.text);
    const repeat = await post(APPLICATIONS, { ...minimalApplication, name: 'Exchange' });
    expect(repeat.text).toBe(next.text);
  });
});

describe('with several processes', () => {
  it('one key creates one resource, however many requests come at once', async () => {
    const other = await apiInProcess({ DATABASE_URL: demo.database.url });
    try {
      const before = await count('applications');
      const clients = [demo.client, clientOf(other.url, demo.auth)];
      const statuses = new Set<number>();
      // Clients repeat a 409, which a busy machine may answer.
      const retryUntilDone = (by: Client) =>
        eventually(
          () => post(APPLICATIONS, minimalApplication, by),
          ({ status }) => {
            statuses.add(status);
            return status === 200;
          },
          { ms: 60_000 },
        );
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, n) => retryUntilDone(clients[n % 2]!)),
      );
      expect([200, 409, 503]).toEqual(expect.arrayContaining([...statuses]));
      const paths = answers.map((answer) => new URL(answer.json<{ href: string }>().href).pathname);
      expect(new Set(paths).size).toBe(1);
      expect(answers.filter(({ headers }) => !headers['idempotency-replayed'])).toHaveLength(1);
      expect(await count('applications')).toBe(before + 1);
    } finally {
      await other.stop();
    }
  });

  it('a request waits for the same one in flight elsewhere, then is answered with 409 and Retry-After', async () => {
    const elsewhere = new pg.Client({ connectionString: demo.database.url });
    await elsewhere.connect();
    try {
      await elsewhere.query('BEGIN');
      await elsewhere.query(
        `INSERT INTO idempotency_keys (account_id, key, fingerprint) VALUES ($1, $2, '')`,
        [demo.id, key],
      );
      const start = Date.now();
      const answer = await post(APPLICATIONS, minimalApplication);
      expect([answer.status, answer.json()['code']]).toEqual([409, 'idempotency_key_in_use']);
      expect(answer.headers['retry-after']).toBe('1');
      const waitedMs = Date.now() - start;
      expect(waitedMs).toBeGreaterThan(1_900);
      expect(waitedMs).toBeLessThan(5_000);
      // Other requests are not delayed.
      expect((await demo.client.post(APPLICATIONS, minimalApplication)).status).toBe(200);
      await elsewhere.query('ROLLBACK');
      expect((await post(APPLICATIONS, minimalApplication)).status).toBe(200);
    } finally {
      await elsewhere.end();
    }
  });
});

describe('a process that is killed', () => {
  /** Stops transactions that create applications at one point, and waits for the test there. */
  async function stopAt(when: 'INSERT' | 'COMMIT') {
    const gate = new pg.Client({ connectionString: demo.database.url });
    await gate.connect();
    await gate.query('SELECT pg_advisory_lock(4711)');
    await demo.database.query(`
      CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$ BEGIN
        PERFORM pg_advisory_xact_lock_shared(4711);
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON applications
        DEFERRABLE INITIALLY ${when === 'COMMIT' ? 'DEFERRED' : 'IMMEDIATE'}
        FOR EACH ROW EXECUTE FUNCTION wait()`);
    const waiting = () =>
      demo.database.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`);
    return {
      reached: () => eventually(waiting, (rows) => rows.length === 1),
      open: async () => {
        await gate.query('SELECT pg_advisory_unlock(4711)');
        await eventually(
          () =>
            demo.database.query(
              `SELECT FROM pg_stat_activity WHERE datname = current_database()
                 AND state <> 'idle' AND pid <> pg_backend_pid()`,
            ),
          (busy) => busy.length === 0,
        );
        await demo.database.query('DROP TRIGGER wait ON applications; DROP FUNCTION wait');
        await gate.end();
      },
    };
  }

  it.each([
    ['before the commit has created nothing, and the repeat creates one', 'INSERT', 0, undefined],
    [
      'between the commit and the answer has created the resource that the repeat returns',
      'COMMIT',
      1,
      'true',
    ],
  ] as const)('%s', async (_, when, left, replayed) => {
    const store = await proxyTo(demo.database.url);
    const api = await startApi({ DATABASE_URL: store.address });
    const before = await count('applications');
    const gate = await stopAt(when);
    const lost = post(APPLICATIONS, minimalApplication, clientOf(api.url, demo.auth)).catch(
      () => 'no answer',
    );
    await gate.reached();
    // PostgreSQL's answer no longer arrives, but it has received the statement.
    store.freeze();
    if (when === 'INSERT') {
      await api.kill();
      await store.close();
      await gate.open();
    } else {
      await gate.open();
      await api.kill();
      await store.close();
    }
    expect(await lost).toBe('no answer');
    expect(await count('applications')).toBe(before + left);
    const repeat = await post(APPLICATIONS, minimalApplication);
    expect([repeat.status, repeat.headers['idempotency-replayed']]).toEqual([200, replayed]);
    expect(await count('applications')).toBe(before + 1);
  });
});
