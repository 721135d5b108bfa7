import type { INestApplicationContext } from '@nestjs/common';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ApplicationDeletions,
  ApplicationsModule,
  ApplicationsService,
  type NewApplication,
} from '#libs/applications';
import { type FieldFault, NotFoundError, UnavailableError, ValidationError } from '#libs/kernel';
import { eventually } from '#tools/eventually';
import { contextOf } from '../support/context.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { anAccount } from '../support/rows.js';

let database: TestDatabase;
let context: INestApplicationContext;
let applications: ApplicationsService;
let account: string;

beforeAll(async () => {
  database = await createTestDatabase();
  context = await contextOf(database, [ApplicationsModule]);
  applications = context.get(ApplicationsService);
  account = await anAccount(database);
});
afterAll(async () => {
  await context.close();
  await database.drop();
});

const anyVersion = (): void => undefined;
const aNewApplication = (fields: Partial<NewApplication> = {}): NewApplication => ({
  name: 'Switchboard',
  voiceUrl: 'http://voice.example/',
  ...fields,
});

async function faultsOf(work: Promise<unknown>): Promise<Omit<FieldFault, 'message'>[]> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ValidationError)) throw new Error('no ValidationError was thrown');
  return error.faults.map(({ field, code }) => ({ field, code }));
}

describe('an update', () => {
  it('raises the version and the change time only if something changes', async () => {
    const id = await applications.create(account, aNewApplication());
    const before = await applications.get(account, id);
    await applications.update(account, id, {}, anyVersion);
    await applications.update(
      account,
      id,
      { name: 'Switchboard', apiType: 'scripting' },
      anyVersion,
    );
    expect(await applications.get(account, id)).toEqual(before);
    await applications.update(account, id, { name: 'Exchange' }, anyVersion);
    const after = await applications.get(account, id);
    expect(after).toMatchObject({ name: 'Exchange', version: before.version + 1 });
    expect(after.updatedAt.getTime()).toBeGreaterThan(before.updatedAt.getTime());
    expect(after.createdAt).toEqual(before.createdAt);
  });

  it('keeps the changes of all concurrent updates', async () => {
    const id = await applications.create(account, aNewApplication());
    const changes = [
      { name: 'Exchange' },
      { voiceUrl: 'http://other.example/' },
      { messagingUrl: 'http://messages.example/' },
      { apiType: 'webapi' as const },
      { environmentId: '2' },
    ];
    await Promise.all(
      changes.map((change) => applications.update(account, id, change, anyVersion)),
    );
    expect(await applications.get(account, id)).toMatchObject(Object.assign({}, ...changes));
    expect((await applications.get(account, id)).version).toBe(1 + changes.length);
  });

  it('never leaves an application without a URL, even when concurrent updates each clear one', async () => {
    const both = { messagingUrl: 'http://messages.example/' };
    for (let round = 0; round < 10; round += 1) {
      const id = await applications.create(account, aNewApplication(both));
      const ends = await Promise.allSettled([
        applications.update(account, id, { voiceUrl: null }, anyVersion),
        applications.update(account, id, { messagingUrl: null }, anyVersion),
      ]);
      expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    }
  });

  it('reports every fault that depends on the stored application', async () => {
    const id = await applications.create(account, aNewApplication());
    const changes = { voiceUrl: null, environmentId: '999' };
    expect(await faultsOf(applications.update(account, id, changes, anyVersion))).toEqual([
      { field: 'voiceUrl', code: 'required' },
      { field: 'environment', code: 'unknown_reference' },
    ]);
  });
});

describe('a deletion', () => {
  it('keeps the row, which still names its account', async () => {
    const id = await applications.create(account, aNewApplication());
    await applications.delete(account, id, anyVersion);
    await expect(applications.get(account, id)).rejects.toThrow(NotFoundError);
    const [row] = await database.query<{ user_id: string; deleted: boolean }>(
      'SELECT user_id, deleted_at IS NOT NULL AS deleted FROM applications WHERE id = $1',
      [id],
    );
    expect(row).toEqual({ user_id: account, deleted: true });
  });

  it('is rolled back when something that belongs to the application cannot be deleted', async () => {
    const id = await applications.create(account, aNewApplication());
    let failing = true;
    context.get(ApplicationDeletions).subscribe(() => {
      return failing ? Promise.reject(new UnavailableError()) : Promise.resolve();
    });
    await expect(applications.delete(account, id, anyVersion)).rejects.toThrow(UnavailableError);
    failing = false;
    expect((await applications.get(account, id)).id).toBe(id);
    await applications.delete(account, id, anyVersion);
    await expect(applications.get(account, id)).rejects.toThrow(NotFoundError);
  });
});

/** The modes of the locks that some connection waits for in this database. */
async function waitingLocks(): Promise<string[]> {
  const rows = await database.query<{ mode: string }>(
    `SELECT mode FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
     WHERE NOT granted AND datname = current_database()`,
  );
  return rows.map(({ mode }) => mode);
}

describe('an import', () => {
  const record = { name: 'Old', voiceUrl: 'http://voice.example/', partition: 'Production' };

  it('keeps ids and partitions, and sets no environment', async () => {
    const userId = Number(account);
    await expect(applications.import([{ ...record, userId, id: '5080983' }])).resolves.toBe(1);
    const imported = await applications.get(account, '5080983');
    expect(imported).toMatchObject({ name: 'Old', partition: 'Production', environmentId: null });
    await applications.update(account, '5080983', { environmentId: '2' }, anyVersion);
    expect(await applications.get(account, '5080983')).toMatchObject({
      partition: 'Production',
      environmentId: '2',
    });
  });

  it('stores nothing if any record is faulty, and reports every fault', async () => {
    const owner = await anAccount(database);
    const taken = await applications.create(owner, aNewApplication());
    const deleted = await applications.create(owner, aNewApplication());
    await applications.delete(owner, deleted, anyVersion);
    const records = [
      { ...record, userId: owner },
      { ...record, userId: owner, id: taken },
      { ...record, userId: owner, id: deleted },
      { ...record, userId: '999999999', environment: 999 },
      { ...record, userId: owner, environment: '/v1/environments/2' },
    ];
    expect(await faultsOf(applications.import(records))).toEqual([
      { field: '/1/id', code: 'conflict' },
      { field: '/2/id', code: 'conflict' },
      { field: '/3/userId', code: 'unknown_reference' },
      { field: '/3/environment', code: 'unknown_reference' },
    ]);
    expect(await applications.list(owner, { limit: 10 })).toHaveLength(1);
  });

  it('reserves chosen ids, so that none is assigned again later', async () => {
    const owner = await anAccount(database);
    const next = Number(await applications.create(owner, aNewApplication())) + 1;
    const chosen = [next, next + 1, next + 7].map((id) => ({ ...record, userId: owner, id }));
    await applications.import([...chosen, { ...record, userId: owner, name: 'Without an id' }]);
    const later = await applications.create(owner, aNewApplication());
    expect(Number(later)).toBeGreaterThan(next + 8);
  });

  it('can use the first id of an installation without applications', async () => {
    const empty = await createTestDatabase();
    const another = await contextOf(empty, [ApplicationsModule]);
    try {
      const owner = await anAccount(empty);
      const service = another.get(ApplicationsService);
      await service.import([{ ...record, userId: owner, id: 1 }]);
      expect(await service.create(owner, aNewApplication())).toBe('2');
    } finally {
      await another.close();
      await empty.drop();
    }
  });

  it('works while applications are being created', async () => {
    const owner = await anAccount(database);
    const start = Number(await applications.create(owner, aNewApplication()));
    const imports = Array.from({ length: 5 }, (_, index) =>
      applications.import([{ ...record, userId: owner, id: start + 100 * (index + 1) }]),
    );
    const creations = Array.from({ length: 20 }, () =>
      applications.create(owner, aNewApplication()),
    );
    await Promise.all([...imports, ...creations]);
    expect(await applications.list(owner, { limit: 100 })).toHaveLength(26);
  });

  it('keeps other transactions from taking an id until it has ended', async () => {
    const owner = await anAccount(database);
    const blocker = new pg.Client({ connectionString: database.url });
    await blocker.connect();
    try {
      await blocker.query('BEGIN; LOCK TABLE environments IN ACCESS EXCLUSIVE MODE');
      const importing = applications.import([{ ...record, userId: owner, environment: 1 }]);
      await eventually(waitingLocks, (modes) => modes.includes('AccessShareLock'));
      const adding = database.query(
        `INSERT INTO applications (user_id, name, api_type, voice_url)
         VALUES ($1, 'a', 'scripting', 'http://v/')`,
        [owner],
      );
      await eventually(waitingLocks, (modes) => modes.includes('RowExclusiveLock'));
      await blocker.query('COMMIT');
      await Promise.all([importing, adding]);
    } finally {
      await blocker.end();
    }
  });

  it('accepts thousands of records at once', async () => {
    const owner = await anAccount(database);
    const records = Array.from({ length: 2_500 }, (_, index) => ({
      ...record,
      userId: owner,
      name: `Old ${index}`,
    }));
    await expect(applications.import(records)).resolves.toBe(2_500);
    const [row] = await database.query<{ count: number }>(
      'SELECT count(DISTINCT name)::int AS count FROM applications WHERE user_id = $1',
      [owner],
    );
    expect(row?.count).toBe(2_500);
  });
});
