import { Controller, Get, Param } from '@nestjs/common';
import { given, FairReads, numberUpTo, QueryOf, type QueryReader, type FairRead } from '#libs/http';
import type { Principal } from '#libs/identity';
import { accountRead, ActAsUser, CurrentUser } from '#libs/identity/http';
import { type HistoryRange, MAX_BUCKETS } from '../domain/attempt-history.js';
import { Statistics } from '../statistics.js';

/** How attempts went, of a subscription or of a whole account. */
@Controller('v1')
@ActAsUser()
export class StatisticsController {
  constructor(private readonly statistics: Statistics) {}

  @Get('webhooks/:id/stats')
  async stats(
    @Param('id') webhookId: string,
    @CurrentUser() user: Principal,
    @QueryOf(rangeOf) range: HistoryRange,
    @FairReads() readFairly: FairRead,
  ): Promise<object> {
    const isAsked = Object.keys(range).length > 0;
    return readFairly(() =>
      this.statistics.of(user.userId, webhookId, isAsked ? range : undefined),
    );
  }

  @Get('stats')
  async statsOfAccount(
    @CurrentUser() user: Principal,
    @QueryOf((query) => [rangeOf(query), query.numericId('accountId')])
    [range, asked]: [HistoryRange, string | undefined],
    @FairReads() readFairly: FairRead,
  ): Promise<object> {
    const accountId = accountRead(asked, user);
    return readFairly(() => this.statistics.ofAccount(accountId, range));
  }
}

const BUCKETS = numberUpTo(MAX_BUCKETS);

function rangeOf(query: QueryReader): HistoryRange {
  return { ...query.times(), ...given({ buckets: query.number('buckets', BUCKETS) }) };
}
