import type { DatabaseSchema } from '#libs/runtime';
import { initial } from './migrations/0001-initial.js';

export const applicationsSchema: DatabaseSchema = {
  migrations: [initial],
  tables: { applications: { api: 'SELECT, INSERT, UPDATE' } },
  functions: {
    // The sequence moves past the ids that an import brings. All others move by themselves.
    'raise_application_ids()': { api: 'EXECUTE' },
  },
};
