import { Controller, Delete, Get, HttpCode, Param, Post, Put, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  entityTag,
  Href,
  type HrefBuilder,
  Idempotent,
  IfMatch,
  JsonBody,
  type Once,
  type VersionCheck,
} from '#libs/http';
import type { Principal } from '#libs/identity';
import { ActAsUser, CurrentUser } from '#libs/identity/http';
import { RecentActivityReader } from '../recent-activity.js';
import { WebhooksService } from '../domain/webhooks.service.js';
import { located } from './located.js';
import { answerWebhook, answerWebhooks } from './webhook-answers.js';
import { CreateWebhookDto, UpdateWebhookDto } from './webhook.dto.js';

/**
 * Webhook subscriptions of the caller's account (specification, section 4.2). Lists and creates them at
 * account level; single ones may also belong to an application.
 */
@Controller('v1/webhooks')
@ActAsUser()
export class WebhooksController {
  constructor(
    private readonly webhooks: WebhooksService,
    private readonly activity: RecentActivityReader,
  ) {}

  @Get()
  async list(
    @CurrentUser() { userId }: Principal,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const where = { accountId: userId };
    const from = { webhooks: this.webhooks, activity: this.activity };
    await answerWebhooks(request, response, from, where);
  }

  @Get(':id')
  async show(
    @CurrentUser() { userId }: Principal,
    @Param('id') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    answerWebhook(request, response, await this.webhooks.get(userId, id));
  }

  @Post()
  @HttpCode(200)
  async create(
    @CurrentUser() { userId }: Principal,
    @JsonBody(CreateWebhookDto) body: CreateWebhookDto,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
  ): Promise<object> {
    const level = { accountId: userId };
    return once(async () => href('webhooks', await this.webhooks.create(level, body.content())), {
      hasVersion: true,
    });
  }

  @Put(':id')
  async update(
    @CurrentUser() { userId }: Principal,
    @Param('id') id: string,
    @JsonBody(UpdateWebhookDto) body: UpdateWebhookDto,
    @IfMatch() check: VersionCheck,
    @Href() href: HrefBuilder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const version = await this.webhooks.update({ accountId: userId, id }, body.changes(), check);
    response.setHeader('ETag', entityTag(version));
    return { href: href('webhooks', id) };
  }

  @Delete(':id')
  async delete(
    @CurrentUser() { userId }: Principal,
    @Param('id') id: string,
    @IfMatch() check: VersionCheck,
  ): Promise<object> {
    await this.webhooks.delete({ accountId: userId, id }, check);
    return { message: 'delete successful' };
  }

  @Post(':id/pause')
  @HttpCode(200)
  async pause(
    @CurrentUser() { userId }: Principal,
    @Param('id') id: string,
    @IfMatch() check: VersionCheck,
    @Href() href: HrefBuilder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const version = await this.webhooks.update({ accountId: userId, id }, { paused: true }, check);
    response.setHeader('ETag', entityTag(version));
    return located(response, href('webhooks', id));
  }

  @Post(':id/resume')
  @HttpCode(200)
  async resume(
    @CurrentUser() { userId }: Principal,
    @Param('id') id: string,
    @IfMatch() check: VersionCheck,
    @Href() href: HrefBuilder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const version = await this.webhooks.update({ accountId: userId, id }, { paused: false }, check);
    response.setHeader('ETag', entityTag(version));
    return located(response, href('webhooks', id));
  }

  @Get(':id/secret')
  showSecret(@CurrentUser() { userId }: Principal, @Param('id') id: string): Promise<object> {
    return this.webhooks.verificationKey(userId, id);
  }

  @Post(':id/secret/rotate')
  @HttpCode(200)
  async rotateSecret(
    @CurrentUser() { userId }: Principal,
    @Param('id') id: string,
    @Href() href: HrefBuilder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const key = await this.webhooks.rotateKey(userId, id);
    response.setHeader('Location', href('webhooks', id, 'secret'));
    return key;
  }
}
