import { Controller, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import {
  Href,
  type HrefBuilder,
  Idempotent,
  type JsonText,
  type Once,
  RawJsonBody,
} from '#libs/http';
import type { Principal } from '#libs/identity';
import { ActAsUser, CurrentUser } from '#libs/identity/http';
import { ReplaysService } from '../domain/replays.service.js';
import { readReplay } from './replay.body.js';
import { ReplayView } from './replay.view.js';

/** Replays of a customer's finished deliveries. */
@Controller('v1')
@ActAsUser()
export class ReplaysController {
  constructor(private readonly replays: ReplaysService) {}

  @Post('webhooks/:id/replay')
  @HttpCode(202)
  async start(
    @Param('id') webhookId: string,
    @CurrentUser() { userId }: Principal,
    @RawJsonBody('MAX_BODY_BYTES') body: JsonText,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const { range, dryRun } = readReplay(body.value, new Date());
    if (dryRun) {
      response.status(200);
      return { deliveries: await this.replays.count(userId, webhookId, range) };
    }
    return once(async () => href('replays', await this.replays.start(userId, webhookId, range)));
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
