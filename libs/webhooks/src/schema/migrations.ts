import { type DatabaseSchema, migrationOf } from '#libs/runtime';
import { initial } from './initial-migration.js';

/** Oldest first. A released one is never changed. */
export const migrations: DatabaseSchema['migrations'] = [
  initial,

  /** The last one of version 1.1, of which the first ones have everything: its name tells a database of that version. */
  migrationOf('FailingWebhooks1764050400008'),

  /**
   * Counts the deliveries that were added to an event since its acceptance, to limit them. What processes of earlier
   * versions added does not count.
   */
  migrationOf(
    'AddedDeliveries1764136800009',
    'ALTER TABLE events ADD COLUMN added integer NOT NULL DEFAULT 0',
  ),

  /** Finds running replays of an account, and those that ended long ago, without reading all of them. */
  migrationOf(
    'ReplayLooks1764136800010',
    `CREATE INDEX replays_running_account_idx ON replays (account_id, id) WHERE state = 'running';
  CREATE INDEX replays_completed_idx ON replays (completed_at) WHERE completed_at IS NOT NULL`,
  ),

  /**
   * An attempt outside the schedule (`SEND_NOW`). resumes_at: when the schedule goes on after it; null if none was asked
   * for. extra_attempts: how many of them failed since schedule_base; null for none.
   */
  migrationOf(
    'ExtraAttempts1764223200031',
    'ALTER TABLE deliveries ADD COLUMN resumes_at timestamptz, ADD COLUMN extra_attempts integer',
  ),

  /** What each account has caused, by the hour (`AccountLoadCounter`): accepted events, attempts and their time. */
  migrationOf(
    'AccountLoads1764223200032',
    `
CREATE TABLE account_loads (
  at timestamptz NOT NULL,
  account_id bigint NOT NULL,
  reported integer NOT NULL,
  delivered integer NOT NULL,
  failed integer NOT NULL,
  busy_ms bigint NOT NULL,
  CONSTRAINT account_loads_pkey PRIMARY KEY (at, account_id)
) WITH (fillfactor = 80);
`,
  ),

  /** Replays that send a subscription the events that it has missed. `after` of such a part is an event. */
  migrationOf(
    'MissedEvents1764230400011',
    'ALTER TABLE replays ADD COLUMN missed boolean NOT NULL DEFAULT false',
  ),

  /**
   * The pace of a subscription. paced_until: no delivery is claimed before. in_flight: the ends of leases, by delivery
   * and number of the lease. pace_waits: deliveries are due, but exceed the pace. not_before: the time of a retry in an
   * ordered subscription, where next_attempt_at is the place in the order.
   */
  migrationOf(
    'PacedWebhooks1764250000011',
    `ALTER TABLE webhooks
    ADD COLUMN max_per_second integer,
    ADD COLUMN max_concurrent integer,
    ADD COLUMN ordered boolean NOT NULL DEFAULT false,
    ADD COLUMN paced_until timestamptz,
    ADD COLUMN in_flight jsonb,
    ADD COLUMN pace_waits boolean NOT NULL DEFAULT false;
  ALTER TABLE deliveries ADD COLUMN not_before timestamptz`,
  ),

  /** The filter of a subscription as JSON text, and an id that changes with it (`Filter`). */
  migrationOf(
    'FilteredWebhooks1764255000012',
    'ALTER TABLE webhooks ADD COLUMN filter text, ADD COLUMN filter_id text',
  ),

  /**
   * What subscriptions have lost, by five minutes, and when a notification of one last succeeded (`DeliveryResults`).
   * Earlier successes are known to five minutes.
   */
  migrationOf(
    'DeliveryResults1764330000013',
    `
CREATE TABLE webhook_losses (
  webhook_id bigint NOT NULL,
  at timestamptz NOT NULL,
  count integer NOT NULL,
  last_at timestamptz NOT NULL,
  CONSTRAINT webhook_losses_pkey PRIMARY KEY (webhook_id, at)
) WITH (fillfactor = 80);
CREATE INDEX webhook_losses_at_idx ON webhook_losses (at);

CREATE TABLE webhook_successes (
  webhook_id bigint NOT NULL,
  at timestamptz NOT NULL,
  CONSTRAINT webhook_successes_pkey PRIMARY KEY (webhook_id)
) WITH (fillfactor = 80);
INSERT INTO webhook_successes (webhook_id, at)
SELECT w.id, max(c.at) FROM attempt_counts c JOIN webhooks w ON w.id = c.webhook_id
WHERE c.outcome = '2xx' GROUP BY w.id;
`,
  ),

  /**
   * Recoveries after an outage on our side. after: the subscription that one has reached. visited_at: when it had reached
   * all. replays.recovery_id: the recovery that sends these deliveries.
   */
  migrationOf(
    'Recoveries1764340000014',
    `
CREATE TABLE recoveries (
  id uuid NOT NULL,
  since timestamptz NOT NULL,
  until timestamptz NOT NULL,
  user_id bigint NOT NULL,
  address text,
  request_id text,
  after bigint NOT NULL DEFAULT 0,
  subscriptions integer NOT NULL DEFAULT 0,
  circuits_closed integer NOT NULL DEFAULT 0,
  switched_on integer NOT NULL DEFAULT 0,
  deliveries integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  visited_at timestamptz,
  CONSTRAINT recoveries_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX recoveries_one_idx ON recoveries ((visited_at IS NULL)) WHERE visited_at IS NULL;
ALTER TABLE replays ADD COLUMN recovery_id uuid;
CREATE INDEX replays_recovery_idx ON replays (recovery_id) WHERE recovery_id IS NOT NULL;
`,
  ),

  /** How many deliveries of its subscription a part of a replay has not started. Parts of earlier versions do not know. */
  migrationOf(
    'ReplayPartsRemaining1764340000020',
    'ALTER TABLE replay_parts ADD COLUMN remaining integer',
  ),

  /**
   * Every running replay has parts, and parts: how many of them are left. They are found by their account. Replays of
   * version 1.1 without a part get one, and parts of earlier versions an estimate of what remains.
   */
  migrationOf(
    'ReplayPartsOfAccounts1764360000021',
    `
INSERT INTO replay_parts (replay_id, webhook_id, generation, after)
SELECT id, webhook_id, generation, after FROM replays WHERE state = 'running' AND generation IS NOT NULL
ON CONFLICT DO NOTHING;
ALTER TABLE replay_parts ADD COLUMN account_id bigint;
DELETE FROM replay_parts p
WHERE NOT EXISTS (SELECT FROM replays r WHERE r.id = p.replay_id AND r.state = 'running');
UPDATE replay_parts p SET account_id = r.account_id,
  remaining = coalesce(p.remaining, CASE WHEN r.webhook_id IS NULL THEN 0 ELSE greatest(r.total - r.replayed, 0) END)
FROM replays r WHERE r.id = p.replay_id;
ALTER TABLE replay_parts
  ALTER COLUMN account_id SET NOT NULL,
  ALTER COLUMN remaining SET DEFAULT 0,
  ALTER COLUMN remaining SET NOT NULL;
DROP INDEX replay_parts_webhook_idx;
CREATE INDEX replay_parts_account_idx ON replay_parts (account_id, webhook_id, replay_id);
ALTER TABLE replays DROP COLUMN generation, DROP COLUMN after, ADD COLUMN parts integer NOT NULL DEFAULT 1;
UPDATE replays r SET parts = p.count
FROM (SELECT replay_id, count(*) AS count FROM replay_parts GROUP BY replay_id) p WHERE p.replay_id = r.id;
UPDATE replays r SET state = 'completed', completed_at = now()
WHERE state = 'running' AND NOT EXISTS (SELECT FROM replay_parts WHERE replay_id = r.id);
`,
  ),

  /** No statement used it, and without it PostgreSQL sets the flag by a HOT update. */
  migrationOf('NoIndexOfBacklogs1764370000022', 'DROP INDEX webhooks_backlog_idx'),

  /**
   * accounts: 'all' for an operator's subscription to notices about the subscriptions of every account. `migrate` then
   * creates the functions, whose results now name the accounts that were told.
   */
  migrationOf(
    'NoticesOfAll1764400000023',
    `ALTER TABLE webhooks ADD COLUMN accounts text CONSTRAINT webhooks_accounts_check CHECK (accounts = 'all');
  CREATE INDEX webhooks_accounts_idx ON webhooks (event) WHERE accounts IS NOT NULL AND deleted_at IS NULL;
  DROP FUNCTION IF EXISTS tell_of_webhook(bigint, text, timestamptz, timestamptz);
  DROP FUNCTION IF EXISTS recover_webhook(uuid, bigint, integer, integer)`,
  ),

  /** The latest time up to which the feed was ever read: no later event has an earlier id (`FEED_FUNCTIONS`). One row. */
  migrationOf(
    'Feed1764400000024',
    `
CREATE TABLE feed_clock (at timestamptz NOT NULL, CONSTRAINT feed_clock_pkey PRIMARY KEY (at));
INSERT INTO feed_clock (at) VALUES (now());
`,
  ),

  /**
   * Erasures of a text from events. account_id: null for all accounts. contains: the text, while the erasure runs. after: the
   * event that it has reached. advanced_at: when it last went on. deliveries.erased: true if the data of its event were
   * erased; null otherwise, which takes no byte.
   */
  migrationOf(
    'Forgetting1764400000025',
    `
ALTER TABLE events ADD COLUMN erased_at timestamptz;
ALTER TABLE deliveries ADD COLUMN erased boolean;
CREATE TABLE erasures (
  id uuid NOT NULL,
  account_id bigint,
  contains text,
  since timestamptz,
  until timestamptz NOT NULL,
  after uuid NOT NULL,
  events integer NOT NULL DEFAULT 0,
  producer_ids integer NOT NULL DEFAULT 0,
  deliveries integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  advanced_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  CONSTRAINT erasures_pkey PRIMARY KEY (id)
);
CREATE INDEX erasures_running_idx ON erasures (advanced_at) WHERE completed_at IS NULL;
CREATE INDEX erasures_completed_idx ON erasures (completed_at) WHERE completed_at IS NOT NULL;
`,
  ),

  /** Accounts whose data is being removed. */
  migrationOf(
    'Closings1764400000027',
    `
CREATE TABLE closings (
  account_id bigint NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT closings_pkey PRIMARY KEY (account_id)
)`,
  ),

  /** Why deliveries are left out by replays: of those of earlier versions, nobody knows. Finds deleted subscriptions. */
  migrationOf(
    'LeftOutDeliveries1764400000028',
    `
ALTER TABLE replays
  ADD COLUMN left_off integer NOT NULL DEFAULT 0,
  ADD COLUMN left_deleted integer NOT NULL DEFAULT 0,
  ADD COLUMN left_tests integer NOT NULL DEFAULT 0,
  ADD COLUMN left_erased integer NOT NULL DEFAULT 0;
CREATE INDEX webhooks_account_deleted_idx ON webhooks (account_id, id) WHERE deleted_at IS NOT NULL;
`,
  ),

  /** When the circuit opened; null while it is closed. A circuit that is open already: when its target began to fail. */
  migrationOf(
    'CircuitOpenedAt1764400000029',
    `
ALTER TABLE webhooks ADD COLUMN opened_at timestamptz;
UPDATE webhooks SET opened_at = failing_since WHERE open_until IS NOT NULL;
`,
  ),
];
