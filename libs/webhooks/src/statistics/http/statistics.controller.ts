import { Controller, Get, Param, Req } from '@nestjs/common';
import type { Request } from 'express';
import { QueryReader, readInTurn, timesOf } from '#libs/http';
import type { Principal } from '#libs/identity';
import { ActAsUser, CurrentUser } from '#libs/identity/http';
import { accountShown } from '../../subscriptions/http/account-shown.js';
import { type HistoryRange, MAX_BUCKETS } from '../domain/attempt-history.js';
import { DeliveryStatisticsService } from '../domain/delivery-statistics.js';

/** How attempts went, of a subscription or of a whole account. */
@Controller('v1')
@ActAsUser()
export class StatisticsController {
  constructor(private readonly statistics: DeliveryStatisticsService) {}

  @Get('webhooks/:id/stats')
  async stats(
    @Param('id') webhookId: string,
    @CurrentUser() user: Principal,
    @Req() request: Request,
  ): Promise<object> {
    const query = new QueryReader(request);
    const range = rangeOf(query);
    query.done();
    const isAsked = Object.keys(range).length > 0;
    const read = () => this.statistics.of(user.userId, webhookId, isAsked ? range : undefined);
    return readInTurn(request, read);
  }

  @Get('stats')
  async statsOfAccount(@CurrentUser() user: Principal, @Req() request: Request): Promise<object> {
    const query = new QueryReader(request);
    const range = rangeOf(query);
    const accountId = accountShown(query, user) ?? user.userId;
    query.done();
    const read = () => this.statistics.ofAccount(accountId, range);
    return readInTurn(request, read);
  }
}

function rangeOf(query: QueryReader): HistoryRange {
  const buckets = query.wholeNumber('buckets', MAX_BUCKETS);
  return { ...timesOf(query), ...(buckets !== undefined && { buckets }) };
}
