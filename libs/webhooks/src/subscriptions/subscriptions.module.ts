import { Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApplicationDeletions, ApplicationsModule } from '#libs/applications';
import { IdentityModule } from '#libs/identity';
import { OutboundPolicy } from '#libs/outbound';
import { CONFIG, type Config, SecretsModule } from '#libs/runtime';
import { ActivityModule } from '../activity/activity.module.js';
import { RecentActivityReader } from './recent-activity.js';
import { RecentLossesReader } from './recent-losses.js';
import { TargetPolicy } from './domain/target-url.js';
import { PaceLimits } from './domain/webhook.js';
import { WebhookSecrets } from './domain/webhook-secrets.js';
import { WebhooksRepository } from './domain/webhooks.repository.js';
import { WebhooksService } from './domain/webhooks.service.js';
import { SecretsReencryption } from './infrastructure/secrets-reencryption.js';
import { TypeOrmWebhooksRepository } from './infrastructure/typeorm-webhooks.repository.js';
import { WebhookSchema } from './webhook.schema.js';

/** Webhook subscriptions, without HTTP. */
@Module({
  imports: [
    TypeOrmModule.forFeature([WebhookSchema]),
    ActivityModule,
    ApplicationsModule,
    IdentityModule,
    SecretsModule,
  ],
  providers: [
    WebhooksService,
    WebhookSecrets,
    SecretsReencryption,
    { provide: TargetPolicy, useClass: OutboundPolicy },
    {
      provide: PaceLimits,
      inject: [CONFIG],
      useFactory: (config: Config): PaceLimits => ({ maxConcurrent: config.DELIVERY_CONCURRENCY }),
    },
    { provide: WebhooksRepository, useClass: TypeOrmWebhooksRepository },
    RecentActivityReader,
    RecentLossesReader,
  ],
  exports: [
    ActivityModule,
    RecentActivityReader,
    RecentLossesReader,
    WebhooksService,
    SecretsReencryption,
  ],
})
export class SubscriptionsModule implements OnModuleInit {
  constructor(
    private readonly deletions: ApplicationDeletions,
    private readonly webhooks: WebhooksService,
  ) {}

  onModuleInit(): void {
    this.deletions.subscribe((applicationId) => this.webhooks.deleteOf(applicationId));
  }
}
