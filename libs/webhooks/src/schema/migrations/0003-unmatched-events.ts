import { migrationOf } from '#libs/runtime';

/** Lists an account's events that matched no subscription. Earlier events count as matched. */
export const unmatchedEvents = migrationOf(
  'UnmatchedEvents1764010000001',
  `ALTER TABLE events ADD COLUMN unmatched boolean NOT NULL DEFAULT false;
  CREATE INDEX events_unmatched_idx ON events (account_id, id) WHERE unmatched`,
);
