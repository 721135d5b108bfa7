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
  attempts: schema.integer('The number of attempts that started in the time range.', 40),
  outcomes: OUTCOMES,
  answerMs: optional({
    ...schema.object({
      p50: milliseconds('The median, in ms.', 84),
      p95: milliseconds('The 95th percentile, in ms.', 310.5),
      p99: milliseconds('The 99th percentile, in ms.', 402),
    }),
    description: 'The time until the response headers, accurate to 10 %; absent without responses.',
  }),
};

const SummarySchema = schema.named('AttemptSummary', schema.object(SUMMARY));

/** The domain's `AttemptHistory` as it is shown. */
const HISTORY = {
  ...SUMMARY,
  buckets: schema.arrayOf(SummarySchema),
  before: schema.use(SummarySchema, { description: 'The equally long time before `since`.' }),
};

const HistorySchema = schema.named('AttemptHistory', schema.object(HISTORY));

const UNFINISHED = {
  deliveries: schema.integer('The number of deliveries; at most 100,000 are counted.', 1),
  since: optional(schema.time('When the oldest of these deliveries was created.')),
};

const description = 'The unfinished deliveries.';

const WAITING: schema.Schema = { ...schema.object(UNFINISHED), description };

const WAITING_OF_ACCOUNT: schema.Schema = {
  ...schema.object({
    ...UNFINISHED,
    bySubscription: {
      type: 'object',
      description: 'The numbers of these deliveries by the ids of their subscriptions.',
      additionalProperties: { type: 'integer', minimum: 1 },
      examples: [{ 4711: 1 }],
    },
  }),
  description,
};

/** The outcomes of an account's attempts, and its backlog. */
const AccountStatisticsSchema = schema.named(
  'AccountStatistics',
  schema.object({ ...HISTORY, waiting: WAITING_OF_ACCOUNT }),
);

/** The outcomes of a subscription's attempts, and its backlog. */
const StatisticsSchema = schema.named(
  'DeliveryStatistics',
  schema.object({
    ...SUMMARY,
    successRate: optional({
      type: 'number',
      description: 'The share of attempts that succeeded, from 0 to 1; absent without attempts.',
      minimum: 0,
      maximum: 1,
      examples: [0.95],
    }),
    waiting: WAITING,
    history: optional(HistorySchema),
  }),
);

function milliseconds(description: string, example: number): schema.Schema {
  return { type: 'number', description, minimum: 0, examples: [example] };
}

/** The statistics' part of the API description. */
export const statisticsRoutes = describeRoutes(StatisticsController, {
  ids: 'deliveries',
  tag: 'Deliveries',
  about: 'Statistics say how many attempts succeeded, how many failed, and why.',
  path: {
    id: { about: "The subscription's id.", schema: schema.numericId('', '4711') },
  },
  operations: {
    stats: {
      summary: "Show a subscription's statistics",
      about:
        "Returns the outcomes of a subscription's attempts in the last 24 hours, and its backlog. With `since`, `until` or " +
        '`buckets`, returns the outcomes in that time range instead, and their `history`. Attempts are counted with a delay of about ten ' +
        'seconds; the last ten seconds of a worker that was killed are missing.',
      answer: StatisticsSchema,
    },
    statsOfAccount: {
      summary: "Show an account's statistics",
      about:
        "Returns the outcomes of an account's attempts in a time range, and its backlog. Attempts are counted with a delay " +
        'of about ten seconds; the last ten seconds of a worker that was killed are missing.',
      answer: AccountStatisticsSchema,
    },
    statsOfInstallation: {
      summary: "Show the installation's statistics",
      about:
        'Returns the outcomes of the attempts of all accounts in a time range. Attempts are counted with a delay of about ten ' +
        'seconds; the last ten seconds of a worker that was killed are missing.',
      answer: HistorySchema,
    },
  },
});
