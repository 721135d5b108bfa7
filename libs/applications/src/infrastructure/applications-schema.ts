import type { DatabaseSchema } from '#libs/runtime';
import { initial } from './migrations/0001-initial.js';

export const applicationsSchema: DatabaseSchema = {
  migrations: [initial],
  tables: { applications: { api: 'SELECT, INSERT, UPDATE' } },
  functions: {
    // Moves the sequence past imported ids. No other sequence needs that.
    'raise_application_ids()': { api: 'EXECUTE' },
  },
};
