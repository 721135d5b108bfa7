import { migrationOf } from '../database-schema.js';

/** What each process uses of its machine. */
export const processLoads = migrationOf(
  'ProcessLoads1764140400011',
  'ALTER TABLE processes ADD COLUMN cpu_percent integer, ADD COLUMN memory_bytes bigint',
);
