import { EntitySchema } from 'typeorm';
import { identityColumn } from '#libs/runtime';
import { Environment } from '../domain/environment.js';

/** Maps {@link Environment} to its table, which the migrations create. */
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
  checks: [
    {
      name: 'environments_type_check',
      expression: "type IN ('development', 'production', 'special')",
    },
  ],
});
