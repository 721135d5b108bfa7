import { migrationOf } from '#libs/runtime';

/** For the overview, which shows the targets that have failed for the longest time. */
export const failingWebhooks = migrationOf(
  'FailingWebhooks1764050400008',
  `CREATE INDEX webhooks_failing_idx ON webhooks (failing_since)
   WHERE failing_since IS NOT NULL AND enabled AND deleted_at IS NULL`,
);
