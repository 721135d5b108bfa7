import { Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApplicationDeletions, ApplicationsModule } from '#libs/applications';
import { IdentityModule } from '#libs/identity';
import { OutboundPolicy } from '#libs/outbound';
import { SecretsModule } from '#libs/runtime';
import { RecentActivityReader } from './domain/recent-activity.js';
import { TargetPolicy } from './domain/target-policy.js';
import { WebhookSecrets } from './domain/webhook-secrets.js';
import { WebhooksRepository } from './domain/webhooks.repository.js';
import { WebhooksService } from './domain/webhooks.service.js';
import { ActivityModule } from '../activity/activity.module.js';
import { PostgresRecentActivity } from './infrastructure/postgres-recent-activity.js';
import { SecretsReencryption } from './infrastructure/secrets-reencryption.js';
import { TypeOrmWebhooksRepository } from './infrastructure/typeorm-webhooks.repository.js';
import { WebhookSchema } from './infrastructure/webhook.schema.js';

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
    { provide: WebhooksRepository, useClass: TypeOrmWebhooksRepository },
    { provide: RecentActivityReader, useClass: PostgresRecentActivity },
  ],
  exports: [ActivityModule, RecentActivityReader, WebhooksService, SecretsReencryption],
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
