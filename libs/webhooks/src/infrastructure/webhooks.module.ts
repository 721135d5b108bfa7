import { Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApplicationDeletions, ApplicationsModule } from '#libs/applications';
import { WebhooksRepository } from '../domain/webhooks.repository.js';
import { WebhooksService } from '../domain/webhooks.service.js';
import { TypeOrmWebhooksRepository } from './typeorm-webhooks.repository.js';
import { WebhookSchema } from './webhook.schema.js';

/** Webhook subscriptions, without HTTP. */
@Module({
  imports: [TypeOrmModule.forFeature([WebhookSchema]), ApplicationsModule],
  providers: [
    WebhooksService,
    { provide: WebhooksRepository, useClass: TypeOrmWebhooksRepository },
  ],
  exports: [WebhooksService],
})
export class WebhooksModule implements OnModuleInit {
  constructor(
    private readonly deletions: ApplicationDeletions,
    private readonly webhooks: WebhooksService,
  ) {}

  onModuleInit(): void {
    this.deletions.subscribe((applicationId) => this.webhooks.deleteOf(applicationId));
  }
}
