import { HealthController } from './health.module.js';
import { describeRoutes } from './openapi/describe.js';
import { choice, named, object } from './openapi/schema.js';

const upOrDown = (description: string) => choice(description, ['up', 'down']);

const ReadySchema = named(
  'Readiness',
  object({
    status: upOrDown('Whether requests should come here.'),
    postgres: upOrDown('PostgreSQL.'),
    redis: upOrDown('Redis.'),
  }),
);

/** The health of a process in the API's description. */
export const healthRoutes = [
  describeRoutes(HealthController, {
    tag: 'Service',
    about: 'The service itself; without credentials.',
    operations: {
      live: {
        summary: 'Ask whether the process lives',
        about: 'The process answers: nothing else is asked.',
        answer: named('Liveness', object({ status: choice('Always `up`.', ['up']) })),
      },
      ready: {
        summary: 'Ask whether the process is ready',
        about: 'Which of PostgreSQL and Redis is away, and whether requests should come here.',
        answer: ReadySchema,
        others: { 503: { about: 'Requests should go elsewhere.', schema: ReadySchema } },
      },
    },
  }),
];
