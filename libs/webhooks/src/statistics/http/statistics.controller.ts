import { Controller, Get, Param } from '@nestjs/common';
import { FairReads, type FairRead, parameter, type Query, QueryOf } from '#libs/http';
import { OPERATORS, type Principal } from '#libs/identity';
import { accountRead, AllowedTo, CurrentUser } from '#libs/identity/http';
import { MAX_BUCKETS } from '../domain/attempt-history.js';
import { Statistics } from '../statistics.js';

const RANGE = {
  since: parameter.time(
    'The start of the time range; by default, one hour before `until`. It must be at most 31 days before `until`.',
    '2026-01-31T11:00:00Z',
  ),
  until: parameter.time(
    'The end of the time range, exclusive; by default, now. It must be later than `since`.',
    '2026-01-31T12:00:00Z',
  ),
  buckets: parameter.number(
    MAX_BUCKETS,
    'The maximum number of buckets; by default, 12. Each covers a multiple of five minutes.',
    12,
  ),
};
const STATISTICS = {
  range: RANGE,
  accountId: parameter.numericId(
    "The account; by default, the caller's. Only operators can read another account.",
    '83346',
  ),
};

/** How attempts went, of a subscription, an account or the whole installation. */
@Controller('v1')
export class StatisticsController {
  constructor(private readonly statistics: Statistics) {}

  @Get('webhooks/:id/stats')
  async stats(
    @Param('id') webhookId: string,
    @CurrentUser() user: Principal,
    @QueryOf(STATISTICS) { range, accountId: asked }: Query<typeof STATISTICS>,
    @FairReads() readFairly: FairRead,
  ): Promise<object> {
    const accountId = accountRead(asked, user);
    const isAsked = Object.keys(range).length > 0;
    return readFairly(() => this.statistics.of(accountId, webhookId, isAsked ? range : undefined));
  }

  @Get('stats')
  async statsOfAccount(
    @CurrentUser() user: Principal,
    @QueryOf(STATISTICS) { range, accountId: asked }: Query<typeof STATISTICS>,
    @FairReads() readFairly: FairRead,
  ): Promise<object> {
    const accountId = accountRead(asked, user);
    return readFairly(() => this.statistics.ofAccount(accountId, range));
  }

  @Get('overview/stats')
  @AllowedTo(OPERATORS)
  statsOfInstallation(
    @QueryOf(RANGE) range: Query<typeof RANGE>,
    @FairReads() readFairly: FairRead,
  ): Promise<object> {
    return readFairly(() => this.statistics.ofInstallation(range));
  }
}
