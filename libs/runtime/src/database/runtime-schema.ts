import type { DatabaseSchema } from './database-schema.js';
import { initial } from './migrations/0001-initial.js';

export const runtimeSchema: DatabaseSchema = {
  migrations: [initial],
  tables: {
    migrations: {},
    // To delete old ones the worker locks them, which takes the right to change something of them.
    idempotency_keys: {
      api: 'SELECT, INSERT, UPDATE (fingerprint, href, created_at)',
      worker: 'SELECT, UPDATE (created_at), DELETE',
    },
  },
};
