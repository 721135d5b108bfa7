import { HealthController } from './health.module.js';
import { describeRoutes } from './openapi/describe.js';
import { choice, named, object, optional, text } from './openapi/schema.js';

const upOrDown = (description: string) => choice(description, ['up', 'down']);

const ReadySchema = named(
  'Readiness',
  object({
    status: upOrDown('Whether this process should receive requests.'),
    postgres: upOrDown('PostgreSQL.'),
    redis: optional(
      upOrDown('Redis; missing while the process waits for PostgreSQL or its database schema.'),
    ),
    schema: optional(
      upOrDown('`down` while the process waits until `migrate` has made its database schema.'),
    ),
    reason: optional(
      text(
        'Why PostgreSQL cannot be used although it answers: it takes no writes, or which setting has a wrong value.',
        'PostgreSQL is a standby, which takes no writes',
      ),
    ),
  }),
);

/** The health routes in the API description. */
export const healthRoutes = [
  describeRoutes(HealthController, {
    tag: 'Health',
    about: 'The service itself; without credentials.',
    operations: {
      live: {
        summary: 'Check whether the process is alive',
        about: 'The process answers. Nothing else is checked.',
        answer: named('Liveness', object({ status: choice('Always `up`.', ['up']) })),
      },
      ready: {
        summary: 'Check whether the process is ready',
        about:
          'Whether PostgreSQL and Redis take writes, and whether this process should receive requests.',
        answer: ReadySchema,
        others: { 503: { about: 'Send requests to another process.', schema: ReadySchema } },
      },
    },
  }),
];
