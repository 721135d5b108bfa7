import { Module } from '@nestjs/common';
import { IdentityHttpModule } from '#libs/identity/http';
import { WebhooksModule } from '../infrastructure/webhooks.module.js';
import { ApplicationWebhooksController } from './application-webhooks.controller.js';
import { WebhooksController } from './webhooks.controller.js';

/** The subscriptions' part of the API. */
@Module({
  imports: [WebhooksModule, IdentityHttpModule],
  controllers: [WebhooksController, ApplicationWebhooksController],
})
export class WebhooksHttpModule {}
