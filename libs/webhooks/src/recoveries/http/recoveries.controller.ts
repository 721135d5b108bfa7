import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import {
  type Answer,
  answer,
  FairReads,
  type FairRead,
  Href,
  type HrefBuilder,
  Idempotent,
  JsonBody,
  type Once,
  shown,
} from '#libs/http';
import { OPERATORS } from '#libs/identity';
import { ActAsUser, AllowedTo } from '#libs/identity/http';
import { StartsSending } from '../../deliveries/starts-sending.js';
import { Recoveries } from '../recoveries.js';
import { RecoverRequestDto } from './recovery.dto.js';
import { RecoveryView } from './recovery.view.js';

/** Recoveries from an outage of the service, for operators. */
@Controller('v1/overview')
@AllowedTo(OPERATORS)
@ActAsUser()
export class RecoveriesController {
  constructor(private readonly recoveries: Recoveries) {}

  @Post('recover')
  @StartsSending()
  @HttpCode(202)
  async start(
    @JsonBody(RecoverRequestDto) { dryRun, ...span }: RecoverRequestDto,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
    @FairReads() readFairly: FairRead,
  ): Promise<Answer> {
    if (dryRun) {
      const counted = await readFairly(() => this.recoveries.count(span));
      return answer(counted, { status: 200 });
    }
    return once(async () => href('overview', 'recoveries', await this.recoveries.start(span)));
  }

  @Get('recoveries/:id')
  async show(@Param('id') id: string): Promise<Answer> {
    return shown(RecoveryView, await this.recoveries.show(id));
  }
}
