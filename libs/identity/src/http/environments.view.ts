import { computed, schema, viewOf } from '#libs/http';
import { type Environment, ENVIRONMENT_TYPES } from '../domain/environments.service.js';

/** The answer to a new environment. */
export const CreatedEnvironmentSchema = schema.named(
  'CreatedEnvironment',
  schema.object({
    href: schema.href('The address.', 'environments/3'),
    id: schema.numericId('The id.', '3'),
  }),
);

/** An environment in the form that answers contain. */
export const EnvironmentView = viewOf<Environment>()('Environment', {
  id: schema.numericId('The id.', '2'),
  href: computed(schema.href('The address.', 'environments/2'), ({ id }, href) =>
    href('environments', id),
  ),
  name: schema.text('The name.', 'Production'),
  type: schema.choice('The purpose.', ENVIRONMENT_TYPES, 'production'),
  billable: schema.flag('Whether its applications are billed.', true),
});
