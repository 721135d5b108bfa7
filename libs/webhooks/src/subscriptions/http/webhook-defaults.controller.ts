import { Controller, Get, Inject } from '@nestjs/common';
import { type Answer, computed, schema, shown, viewOf } from '#libs/http';
import { CONFIG, type Config } from '#libs/runtime';

type Configured = Pick<Config, 'DELIVERY_RETRY_SCHEDULE' | 'DELIVERY_TIMEOUT_MS'>;

const DefaultRetriesSchema = schema.object({
  schedule: schema.arrayOf({
    type: 'number',
    description: 'The delay before a retry, in seconds.',
    minimum: 0,
    examples: [5],
  }),
  timeoutMs: schema.integer("The timeout for the target's response, in ms.", 15_000),
});

/** What applies to subscriptions that do not set it. */
export const WebhookDefaultsView = viewOf<Configured>()('WebhookDefaults', {
  retry: computed(
    { ...DefaultRetriesSchema, description: 'The retries, and the timeout of each attempt.' },
    ({ DELIVERY_RETRY_SCHEDULE, DELIVERY_TIMEOUT_MS }) => ({
      schedule: DELIVERY_RETRY_SCHEDULE.map((ms) => ms / 1_000),
      timeoutMs: DELIVERY_TIMEOUT_MS,
    }),
  ),
});

/** What the operator has configured for subscriptions. */
@Controller('v1/webhooks/defaults')
export class WebhookDefaultsController {
  constructor(@Inject(CONFIG) private readonly config: Configured) {}

  @Get()
  show(): Answer {
    return shown(WebhookDefaultsView, this.config);
  }
}
