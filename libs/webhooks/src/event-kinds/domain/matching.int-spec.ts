import { afterAll, beforeAll, expect, it } from 'vitest';
import { atOnce } from '#libs/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { anAccount, anApplication } from '../../../../../test/support/rows.js';
import {
  ALL_RESOURCES,
  EVENT_KINDS,
  type EventKind,
  type EventResource,
  isNoticeKind,
  RESOURCES,
} from './event-kinds.js';
import { fromMatching, mismatchOf } from './matching.js';

interface Row {
  id: string;
  accountId: string;
  applicationId: string | null;
  event: EventKind;
  resource: string;
  enabled: boolean;
  isDeleted: boolean;
  createdAt: Date;
}

const LISTS = [ALL_RESOURCES, ...RESOURCES, 'call,sms', 'sms,transcription', RESOURCES.join(',')];

let database: TestDatabase;
let account: string;
let application: string;
let subscriptions: Row[];

beforeAll(async () => {
  database = await createTestDatabase();
  [account, application] = await levelOf();
  const sameAccount = await anApplication(database, account);
  const [otherAccount, otherApplication] = await levelOf();
  const levels = [
    [account, null],
    [account, application],
    [account, sameAccount],
    [otherAccount, null],
    [otherAccount, otherApplication],
  ] as const;
  subscriptions = await database.query<Row>(
    `INSERT INTO webhooks (account_id, application_id, event, resource, enabled, deleted_at, target_url, secret)
     SELECT account_id, application_id, event, resource, enabled, deleted_at, 'http://target.example/', ''
     FROM unnest($1::bigint[], $2::bigint[]) l(account_id, application_id),
       unnest($3::text[]) event, unnest($4::text[]) resource, unnest('{true,false}'::boolean[]) enabled,
       unnest(ARRAY[NULL, now()]) deleted_at
     RETURNING id, account_id AS "accountId", application_id AS "applicationId", event, resource, enabled,
       deleted_at IS NOT NULL AS "isDeleted", created_at AS "createdAt"`,
    [levels.map(([id]) => id), levels.map(([, id]) => id), [...EVENT_KINDS], LISTS],
  );
});
afterAll(() => database.drop());

async function levelOf(): Promise<[account: string, application: string]> {
  const id = await anAccount(database);
  return [id, await anApplication(database, id)];
}

const CASES = EVENT_KINDS.flatMap((event) => {
  const resources: readonly EventResource[] = isNoticeKind(event) ? [ALL_RESOURCES] : RESOURCES;
  return resources.flatMap((resource) => [
    { event, resource, of: 'account' as const },
    { event, resource, of: 'application' as const },
  ]);
});

it.each(CASES)(
  'TypeScript and SQL find the same subscriptions for $event of $resource of an $of',
  async ({ event, resource, of }) => {
    const applicationId = of === 'application' ? application : undefined;
    const found = await database.query<{ id: string }>(
      `SELECT w.id FROM (
         SELECT $1::bigint AS account_id, $2::bigint AS application_id, $3::text AS event, $4::text AS resource
       ) e CROSS JOIN LATERAL (SELECT w.id ${fromMatching('e')}) w`,
      [account, applicationId ?? null, event, resource],
    );
    const ofAccount = subscriptions.filter((one) => one.accountId === account && !one.isDeleted);
    const expected = ofAccount.filter((one) => {
      const { createdAt } = one;
      const accepted = {
        ...{ event, resource, createdAt, test: false },
        ...(applicationId !== undefined && { applicationId }),
      };
      return one.enabled && atOnce(mismatchOf(accepted, { ...one, filter: null })) === undefined;
    });
    expect(expected.length).toBeGreaterThan(0);
    expect(new Set(found.map(({ id }) => id))).toEqual(new Set(expected.map(({ id }) => id)));
  },
);
