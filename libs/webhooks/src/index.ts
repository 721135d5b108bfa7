export { DeliveryWorkerModule } from './deliveries/infrastructure/delivery-worker.module.js';
export { PartitionKeeper } from './infrastructure/partitions.js';
export { webhooksSchema } from './infrastructure/webhooks-schema.js';
export type { WebhookContent } from './subscriptions/domain/webhook.js';
export { WebhooksService } from './subscriptions/domain/webhooks.service.js';
export {
  type Reencrypted,
  SecretsReencryption,
} from './subscriptions/infrastructure/secrets-reencryption.js';
export { WebhooksModule } from './subscriptions/infrastructure/webhooks.module.js';
