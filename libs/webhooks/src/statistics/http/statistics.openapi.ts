import { describeRoutes, schema } from '#libs/http';
import { StatisticsController } from './statistics.controller.js';

const { optional } = schema;

const OUTCOMES: schema.Schema = {
  type: 'object',
  description:
    'The number of attempts by outcome: `2xx` to `5xx`, or the error if there was no response.',
  additionalProperties: { type: 'integer', minimum: 1 },
  examples: [{ '2xx': 38, timeout: 2 }],
};

const SUMMARY = {
  since: schema.time('The start of the time range, inclusive.', '2026-01-31T12:00:00.000Z'),
  until: schema.time('The end of the time range, exclusive.', '2026-01-31T12:05:00.000Z'),
  attempts: schema.integer('How many attempts began in the time range.', 40),
  outcomes: OUTCOMES,
  answerMs: optional({
    ...schema.object({ p50: milliseconds(84), p95: milliseconds(310.5), p99: milliseconds(402) }),
    description:
      'Time until the response headers, in ms, accurate to 10 %; absent without responses.',
  }),
};

const BUCKETS = schema.arrayOf(schema.named('AttemptSummary', schema.object(SUMMARY)));

/** The domain's `AttemptHistory` as it is shown. */
const HistorySchema = schema.named(
  'AttemptHistory',
  schema.object({ ...SUMMARY, buckets: BUCKETS }),
);

const WAITING: schema.Schema = {
  ...schema.object({
    deliveries: schema.integer('How many there are; at most 100,000 are counted.', 1),
    since: optional(schema.time('When the oldest of them was created.')),
  }),
  description: 'The unfinished deliveries.',
};

/** The outcomes of an account's attempts, and its backlog. */
const AccountStatisticsSchema = schema.named(
  'AccountStatistics',
  schema.object({ ...SUMMARY, buckets: BUCKETS, waiting: WAITING }),
);

/** The outcomes of a subscription's attempts, and its backlog. */
const StatisticsSchema = schema.named(
  'DeliveryStatistics',
  schema.object({
    ...SUMMARY,
    successRate: optional({
      type: 'number',
      description: 'The share of the attempts that succeeded; absent without attempts.',
      minimum: 0,
      maximum: 1,
      examples: [0.95],
    }),
    waiting: WAITING,
    history: optional(HistorySchema),
  }),
);

function milliseconds(example: number): schema.Schema {
  return { type: 'number', description: 'In ms.', minimum: 0, examples: [example] };
}

/** The statistics' part of the API description. */
export const statisticsRoutes = describeRoutes(StatisticsController, {
  ids: 'deliveries',
  tag: 'Deliveries',
  about: 'How many attempts succeeded, how many failed, and why.',
  path: {
    id: { about: 'The id of a webhook subscription.', schema: schema.numericId('', '4711') },
  },
  operations: {
    stats: {
      summary: "Show a subscription's statistics",
      about:
        'Outcomes of the attempts of the last 24 hours, and the backlog. With any parameter, of those of a time range, ' +
        'and its history. The attempts are about ten seconds old, and lack the last ten seconds of a worker that was ' +
        'killed.',
      answer: StatisticsSchema,
    },
    statsOfAccount: {
      summary: "Show an account's statistics",
      about:
        'Outcomes of the attempts of all its subscriptions in a time range, and the backlog. The ' +
        'attempts are about ten seconds old, and lack the last ten seconds of a worker that was killed.',
      answer: AccountStatisticsSchema,
    },
  },
});
