import { migrationOf } from '#libs/runtime';

/**
 * Counts the deliveries that were added to an event since its acceptance, to limit them. What processes of earlier
 * versions added does not count.
 */
export const addedDeliveries = migrationOf(
  'AddedDeliveries1764136800009',
  'ALTER TABLE events ADD COLUMN added integer NOT NULL DEFAULT 0',
);
