import type { DatabaseSchema } from './database-schema.js';
import { initial } from './migrations/0001-initial.js';
import { processes } from './migrations/0002-processes.js';
import { processLoads } from './migrations/0003-process-loads.js';

export const runtimeSchema: DatabaseSchema = {
  migrations: [initial, processes, processLoads],
  tables: {
    // A process waits until its migrations are there.
    migrations: { api: 'SELECT', worker: 'SELECT' },
    processes: {
      api: 'SELECT, INSERT, DELETE, UPDATE (seen_at, in_flight, cpu_percent, memory_bytes)',
      worker: 'SELECT, INSERT, DELETE, UPDATE (seen_at, in_flight, cpu_percent, memory_bytes)',
    },
    // The worker locks old keys to delete them, which needs the UPDATE privilege on some column.
    idempotency_keys: {
      api: 'SELECT, INSERT, UPDATE (fingerprint, href, created_at)',
      worker: 'SELECT, UPDATE (created_at), DELETE',
    },
  },
};
