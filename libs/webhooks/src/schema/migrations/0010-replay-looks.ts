import { migrationOf } from '#libs/runtime';

/** Finds running replays of an account, and those that ended long ago, without reading all of them. */
export const replayLooks = migrationOf(
  'ReplayLooks1764136800010',
  `CREATE INDEX replays_running_account_idx ON replays (account_id, id) WHERE state = 'running';
  CREATE INDEX replays_completed_idx ON replays (completed_at) WHERE completed_at IS NOT NULL`,
);
