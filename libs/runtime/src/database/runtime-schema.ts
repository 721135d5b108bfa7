import type { DatabaseSchema } from './database-schema.js';
import { initial } from './migrations/0001-initial.js';

export const runtimeSchema: DatabaseSchema = {
  migrations: [initial],
  tables: {
    // A process waits until its migrations are there.
    migrations: { api: 'SELECT', worker: 'SELECT' },
    // The worker locks old keys to delete them, which needs the UPDATE privilege on some column.
    idempotency_keys: {
      api: 'SELECT, INSERT, UPDATE (fingerprint, href, created_at)',
      worker: 'SELECT, UPDATE (created_at), DELETE',
    },
  },
};
