import type { DatabaseSchema } from './database-schema.js';
import { initial } from './migrations/0001-initial.js';
import { processes } from './migrations/0002-processes.js';

export const runtimeSchema: DatabaseSchema = {
  migrations: [initial, processes],
  tables: {
    // A process waits until its migrations are there.
    migrations: { api: 'SELECT', worker: 'SELECT' },
    processes: {
      api: 'SELECT, INSERT, DELETE, UPDATE (seen_at, in_flight)',
      worker: 'SELECT, INSERT, DELETE, UPDATE (seen_at, in_flight)',
    },
    // The worker locks old keys to delete them, which needs the UPDATE privilege on some column.
    idempotency_keys: {
      api: 'SELECT, INSERT, UPDATE (fingerprint, href, created_at)',
      worker: 'SELECT, UPDATE (created_at), DELETE',
    },
  },
};
