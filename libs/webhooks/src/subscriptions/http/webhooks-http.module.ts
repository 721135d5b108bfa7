import { Module } from '@nestjs/common';
import { IdentityHttpModule } from '#libs/identity/http';
import { WebhooksModule } from '../infrastructure/webhooks.module.js';
import { WebhookActionsController } from './webhook-actions.controller.js';
import { WebhooksController } from './webhooks.controller.js';

/** The subscriptions' part of the API. */
@Module({
  imports: [WebhooksModule, IdentityHttpModule],
  controllers: [WebhooksController, WebhookActionsController],
})
export class WebhooksHttpModule {}
