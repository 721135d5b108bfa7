export {
  ALL_RESOURCES,
  EVENT_KINDS,
  type EventKind,
  isEventKind,
  isResource,
  parseResources,
  type Resource,
  RESOURCES,
} from './subscriptions/domain/event-kinds.js';
export {
  SAMPLE_APPLICATION,
  type SampleData,
  sampleData,
  sampleId,
  usualResource,
} from './deliveries/domain/event-samples.js';
export { shownTargetUrl } from './subscriptions/domain/target-url.js';
export { DeliveryWorkerModule } from './deliveries/infrastructure/delivery-worker.module.js';
export { PartitionKeeper } from './infrastructure/partitions.js';
export { webhooksSchema } from './infrastructure/webhooks-schema.js';
export type { DisabledReason } from './subscriptions/domain/subscription-life.js';
export { Webhook, type WebhookContent } from './subscriptions/domain/webhook.js';
export { WebhooksService } from './subscriptions/domain/webhooks.service.js';
export {
  type Reencrypted,
  SecretsReencryption,
} from './subscriptions/infrastructure/secrets-reencryption.js';
export { WebhooksModule } from './subscriptions/infrastructure/webhooks.module.js';
