import { schema } from '#libs/http';

/** The domain's `DeliveryStatistics` as they are shown. */
export const StatisticsSchema = schema.named(
  'DeliveryStatistics',
  schema.object({
    attempts: schema.integer('How many attempts this is about: the newest, 1,000 at most.', 40),
    outcomes: {
      type: 'object',
      description:
        'How many attempts ended how: `2xx` to `5xx`, or the error of one without an answer.',
      additionalProperties: { type: 'integer', minimum: 1 },
      examples: [{ '2xx': 38, timeout: 2 }],
    },
    successRate: schema.optional({
      type: 'number',
      description: 'The share of the attempts that succeeded; absent without attempts.',
      minimum: 0,
      maximum: 1,
      examples: [0.95],
    }),
    answerMs: schema.optional({
      ...schema.object({ p50: milliseconds(84), p95: milliseconds(310.5) }),
      description: "Time until the headers of the target's answer, in ms; absent without answers.",
    }),
    waiting: {
      ...schema.object({
        deliveries: schema.integer('How many there are.', 1),
        since: schema.optional(schema.time('When the oldest of them was created.')),
      }),
      description: 'The deliveries that are not finished.',
    },
  }),
);

function milliseconds(example: number): schema.Schema {
  return { type: 'number', description: 'In ms.', minimum: 0, examples: [example] };
}
