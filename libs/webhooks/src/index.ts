export {
  ALL_RESOURCES,
  EVENT_KINDS,
  type EventKind,
  isEventKind,
  isResource,
  parseResources,
  type Resource,
  RESOURCES,
} from './domain/event-kinds.js';
export {
  SAMPLE_APPLICATION,
  type SampleData,
  sampleData,
  sampleId,
  usualResource,
} from './domain/event-samples.js';
export { shownTargetUrl } from './domain/target-url.js';
export { DeliveryWorkerModule } from './infrastructure/delivery-worker.module.js';
export type { DisabledReason } from './domain/subscription-life.js';
export { Webhook, type WebhookContent } from './domain/webhook.js';
export { WebhooksService } from './domain/webhooks.service.js';
export { type Reencrypted, SecretsReencryption } from './infrastructure/secrets-reencryption.js';
export { WebhooksModule } from './infrastructure/webhooks.module.js';
