import { migrationOf } from '#libs/runtime';

/** What an attempt sent, and how long each part of it took (`sentText`). Earlier attempts have neither. */
export const attemptRequests = migrationOf(
  'AttemptRequests1764010000002',
  'ALTER TABLE attempts ADD COLUMN sent text',
);
