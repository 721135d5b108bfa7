import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import {
  type Answer,
  answer,
  Href,
  type HrefBuilder,
  IfMatch,
  located,
  type VersionCheck,
} from '#libs/http';
import type { Principal } from '#libs/identity';
import { ActAsUser, CurrentUser, NeedsScope } from '#libs/identity/http';
import { WebhooksService } from '../domain/webhooks.service.js';

/** Actions on a subscription of either level, and its key. */
@Controller('v1/webhooks/:id')
@ActAsUser()
export class WebhookActionsController {
  constructor(private readonly webhooks: WebhooksService) {}

  @Post('pause')
  @HttpCode(200)
  async pause(
    @CurrentUser() { userId: accountId }: Principal,
    @Param('id') id: string,
    @IfMatch() check: VersionCheck,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    const version = await this.webhooks.update({ accountId, id }, { paused: true }, check);
    return located(href('webhooks', id), version);
  }

  @Post('resume')
  @HttpCode(200)
  async resume(
    @CurrentUser() { userId: accountId }: Principal,
    @Param('id') id: string,
    @IfMatch() check: VersionCheck,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    const version = await this.webhooks.update({ accountId, id }, { paused: false }, check);
    return located(href('webhooks', id), version);
  }

  @Get('secret')
  @NeedsScope('manage')
  showSecret(@CurrentUser() { userId }: Principal, @Param('id') id: string): Promise<object> {
    return this.webhooks.verificationKey(userId, id);
  }

  @Post('secret/rotate')
  @HttpCode(200)
  async rotateSecret(
    @CurrentUser() { userId }: Principal,
    @Param('id') id: string,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    const key = await this.webhooks.rotateKey(userId, id);
    return answer(key, { location: href('webhooks', id, 'secret') });
  }
}
