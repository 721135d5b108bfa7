import { EntitySchema } from 'typeorm';
import { identityColumn } from '#libs/runtime';
import { Environment } from '../domain/environment.js';

/** Maps {@link Environment} to its table. Indexes and checks are only in the migrations. */
export const EnvironmentSchema = new EntitySchema<Environment>({
  name: 'Environment',
  target: Environment,
  tableName: 'environments',
  columns: {
    id: identityColumn('environments_pkey'),
    name: { type: 'text' },
    type: { type: 'text' },
    billable: { type: 'boolean' },
  },
});
