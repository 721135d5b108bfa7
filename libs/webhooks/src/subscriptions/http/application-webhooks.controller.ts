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
import { answerWebhook, answerWebhooks } from './webhook-answers.js';
import { CreateWebhookDto, UpdateWebhookDto } from './webhook.dto.js';

/** Webhook subscriptions of one application (specification, section 4.3). */
@Controller('v1/applications/:applicationId/webhooks')
@ActAsUser()
export class ApplicationWebhooksController {
  constructor(
    private readonly webhooks: WebhooksService,
    private readonly activity: RecentActivityReader,
  ) {}

  @Get()
  async list(
    @CurrentUser() { userId }: Principal,
    @Param('applicationId') applicationId: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const where = { accountId: userId, applicationId };
    const from = { webhooks: this.webhooks, activity: this.activity };
    await answerWebhooks(request, response, from, where);
  }

  @Get(':id')
  async show(
    @CurrentUser() { userId }: Principal,
    @Param('applicationId') applicationId: string,
    @Param('id') id: string,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    answerWebhook(request, response, await this.webhooks.get(userId, id, applicationId));
  }

  @Post()
  @HttpCode(200)
  async create(
    @CurrentUser() { userId }: Principal,
    @Param('applicationId') applicationId: string,
    @JsonBody(CreateWebhookDto) body: CreateWebhookDto,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
  ): Promise<object> {
    const level = { accountId: userId, applicationId };
    return once(async () => href('webhooks', await this.webhooks.create(level, body.content())), {
      hasVersion: true,
    });
  }

  @Put(':id')
  async update(
    @CurrentUser() { userId }: Principal,
    @Param('applicationId') applicationId: string,
    @Param('id') id: string,
    @JsonBody(UpdateWebhookDto) body: UpdateWebhookDto,
    @IfMatch() check: VersionCheck,
    @Href() href: HrefBuilder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const version = await this.webhooks.update(
      { accountId: userId, applicationId, id },
      body.changes(),
      check,
    );
    response.setHeader('ETag', entityTag(version));
    return { href: href('webhooks', id) };
  }

  @Delete(':id')
  async delete(
    @CurrentUser() { userId }: Principal,
    @Param('applicationId') applicationId: string,
    @Param('id') id: string,
    @IfMatch() check: VersionCheck,
  ): Promise<object> {
    await this.webhooks.delete({ accountId: userId, applicationId, id }, check);
    return { message: 'delete successful' };
  }
}
