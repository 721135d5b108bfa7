import { Controller, Get } from '@nestjs/common';
import {
  type Answer,
  listed,
  NEWEST_PAGE,
  parameter,
  type Query,
  QueryOf,
  schema,
} from '#libs/http';
import { OPERATORS } from '#libs/identity';
import { AllowedTo } from '#libs/identity/http';
import { isNumericId, type Page, string } from '#libs/kernel';
import { ACCOUNT_SORTS, AccountLoads } from '../accounts.js';
import { Overview } from '../overview.js';
import { AccountLoadView } from './account-load.view.js';

const ACCOUNT_ID = string().and('format', 'must be the id of an account', isNumericId);

const ACCOUNTS = {
  since: parameter.time(
    'The start of the time range, rounded down to the hour; by default, one hour before `until`. It must be at most seven days before `until`.',
    '2026-01-31T11:00:00Z',
  ),
  until: parameter.time(
    'The end of the time range, rounded up to the hour; by default, now. It must be later than `since`.',
    '2026-01-31T12:00:00Z',
  ),
  sort: parameter.choice('The field to sort by; by default, `share`.', ACCOUNT_SORTS, 'waiting'),
  order: parameter.choice(
    'The sort order; by default, `desc`: the largest first.',
    ['asc', 'desc'] as const,
    'desc',
  ),
  page: {
    limit: NEWEST_PAGE.limit,
    after: parameter.valid(
      ACCOUNT_ID,
      'Returns the accounts after this one.',
      schema.numericId('', '83346'),
    ),
  },
};

/** The state of the installation, for operators. */
@Controller('v1/overview')
@AllowedTo(OPERATORS)
export class OverviewController {
  constructor(
    private readonly overview: Overview,
    private readonly loads: AccountLoads,
  ) {}

  @Get()
  show(): Promise<object> {
    return this.overview.show();
  }

  @Get('accounts')
  accounts(@QueryOf(ACCOUNTS) { page, ...asked }: Query<typeof ACCOUNTS>): Answer {
    return listed(page, (of: Page) => this.loads.list(asked, of), AccountLoadView);
  }
}
