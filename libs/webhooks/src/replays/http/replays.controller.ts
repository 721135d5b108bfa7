import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import {
  type Answer,
  answer,
  Href,
  type HrefBuilder,
  Idempotent,
  FairReads,
  JsonBody,
  located,
  type Once,
  shown,
  type FairRead,
} from '#libs/http';
import type { Principal } from '#libs/identity';
import { ActAsUser, CurrentUser } from '#libs/identity/http';
import type { ReplayFilter } from '../domain/replay.js';
import { Replays } from '../replays.js';
import { RedeliverRequestDto, ReplayRequestDto, SendRequestDto } from '../replay.dto.js';
import { ReplayView } from './replay.view.js';
import { StartsSending } from '../../deliveries/starts-sending.js';

interface Asked {
  userId: string;
  body: { dryRun: boolean };
  once: Once;
  href: HrefBuilder;
  readFairly: FairRead;
}

/** Replays of a customer's deliveries. */
@Controller('v1')
@ActAsUser()
export class ReplaysController {
  constructor(private readonly replays: Replays) {}

  @Post('webhooks/:id/replay')
  @StartsSending()
  @HttpCode(202)
  async start(
    @Param('id') webhookId: string,
    @CurrentUser() { userId }: Principal,
    @JsonBody(ReplayRequestDto) body: ReplayRequestDto,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
    @FairReads() readFairly: FairRead,
  ): Promise<Answer> {
    const asked = { userId, body, once, href, readFairly };
    return this.startOrCount(asked, body.filter(webhookId));
  }

  @Post('deliveries/redeliver')
  @StartsSending()
  @HttpCode(202)
  async redeliver(
    @CurrentUser() { userId }: Principal,
    @JsonBody(RedeliverRequestDto) body: RedeliverRequestDto,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
    @FairReads() readFairly: FairRead,
  ): Promise<Answer> {
    return this.startOrCount({ userId, body, once, href, readFairly }, body.filter(), true);
  }

  @Post('deliveries/send')
  @StartsSending()
  @HttpCode(202)
  async send(
    @CurrentUser() { userId }: Principal,
    @JsonBody(SendRequestDto) body: SendRequestDto,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
    @FairReads() readFairly: FairRead,
  ): Promise<Answer> {
    return this.startOrCount({ userId, body, once, href, readFairly }, body.filter(), true);
  }

  private async startOrCount(
    { userId, body, once, href, readFairly }: Asked,
    filter: ReplayFilter,
    isBody = false,
  ): Promise<Answer> {
    if (body.dryRun) {
      const counted = await readFairly(() => this.replays.count(userId, filter, isBody));
      return answer(counted, { status: 200 });
    }
    return once(async () => href('replays', await this.replays.start(userId, filter, isBody)));
  }

  @Get('replays/:id')
  async show(
    @Param('id') id: string,
    @CurrentUser() { userId }: Principal,
    @FairReads() readFairly: FairRead,
  ): Promise<Answer> {
    return shown(ReplayView, await readFairly(() => this.replays.showProgress(userId, id)));
  }

  @Post('replays/:id/cancel')
  @HttpCode(200)
  async cancel(
    @Param('id') id: string,
    @CurrentUser() { userId }: Principal,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    await this.replays.cancel(userId, id);
    return located(href('replays', id));
  }
}
