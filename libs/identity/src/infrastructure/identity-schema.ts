import type { DatabaseSchema } from '#libs/runtime';
import { initial } from './migrations/0001-initial.js';
import { importedUsers } from './migrations/0002-imported-users.js';
import { sessions } from './migrations/0003-sessions.js';

export const identitySchema: DatabaseSchema = {
  migrations: [initial, importedUsers, sessions],
  tables: {
    users: { api: 'SELECT, INSERT, UPDATE (status)' },
    credentials: { api: 'SELECT, INSERT, DELETE, UPDATE (last_used_at)' },
    sessions: { api: 'SELECT, INSERT, DELETE, UPDATE (used_at)' },
    environments: { api: 'SELECT, INSERT' },
    // Append-only. Every process that changes something writes to it.
    audit: { api: 'SELECT, INSERT', worker: 'INSERT' },
  },
  functions: { 'raise_user_ids()': { api: 'EXECUTE' } },
};
