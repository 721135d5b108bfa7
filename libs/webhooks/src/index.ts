export { ErasureWorkerModule } from './erasures/erasures.module.js';
export { Closings } from './closings/closings.js';
export { ClosingsModule, ClosingWorkerModule } from './closings/closings.module.js';
export { PartitionsModule } from './partitions/partitions.module.js';
export { QueueModule } from './queue/queue.module.js';
export { RecoveryWorkerModule } from './recoveries/recoveries.module.js';
export { ReplayWorkerModule } from './replays/replays.module.js';
export { RetentionModule } from './retention/retention.module.js';
export { webhooksSchema } from './schema/schema.js';
export { SendingModule } from './sending/sending.module.js';
export type { WebhookContent } from './subscriptions/domain/webhook.js';
export { WebhooksService } from './subscriptions/domain/webhooks.service.js';
export {
  type Reencrypted,
  SecretsReencryption,
} from './subscriptions/infrastructure/secrets-reencryption.js';
export { SubscriptionsModule } from './subscriptions/subscriptions.module.js';
