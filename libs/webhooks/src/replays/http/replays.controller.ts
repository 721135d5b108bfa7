import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Href, type HrefBuilder, Idempotent, JsonBody, type Once, readInTurn } from '#libs/http';
import type { Principal } from '#libs/identity';
import { ActAsUser, CurrentUser } from '#libs/identity/http';
import { ReplaysService } from '../domain/replays.service.js';
import { RedeliverRequestDto, ReplayRequestDto } from './replay.dto.js';
import { ReplayView } from './replay.view.js';
import { StartsSending } from '../../deliveries/http/starts-sending.js';

/** Replays of a customer's finished deliveries. */
@Controller('v1')
@ActAsUser()
export class ReplaysController {
  constructor(private readonly replays: ReplaysService) {}

  @Post('webhooks/:id/replay')
  @StartsSending()
  @HttpCode(202)
  async start(
    @Param('id') webhookId: string,
    @CurrentUser() { userId }: Principal,
    @JsonBody(ReplayRequestDto) body: ReplayRequestDto,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const filter = body.filter(webhookId);
    if (body.dryRun === true) {
      response.status(200);
      const count = () => this.replays.count(userId, filter);
      return readInTurn(request, count);
    }
    return once(async () => href('replays', await this.replays.start(userId, filter)));
  }

  @Post('deliveries/redeliver')
  @StartsSending()
  @HttpCode(202)
  async redeliver(
    @CurrentUser() { userId }: Principal,
    @JsonBody(RedeliverRequestDto) body: RedeliverRequestDto,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const filter = body.filter();
    if (body.dryRun === true) {
      response.status(200);
      const count = () => this.replays.countSelected(userId, filter);
      return readInTurn(request, count);
    }
    return once(async () => href('replays', await this.replays.startSelected(userId, filter)));
  }

  @Get('replays/:id')
  async show(
    @Param('id') id: string,
    @CurrentUser() { userId }: Principal,
    @Href() href: HrefBuilder,
  ): Promise<object> {
    return ReplayView.show(await this.replays.show(userId, id), href);
  }

  @Post('replays/:id/cancel')
  @HttpCode(200)
  async cancel(
    @Param('id') id: string,
    @CurrentUser() { userId }: Principal,
    @Href() href: HrefBuilder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    await this.replays.cancel(userId, id);
    const address = href('replays', id);
    response.setHeader('Location', address);
    return { href: address };
  }
}
