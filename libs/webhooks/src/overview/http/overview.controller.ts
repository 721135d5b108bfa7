import { Controller, Get } from '@nestjs/common';
import { type Answer, given, listed, QueryOf, type QueryReader } from '#libs/http';
import { PlatformOnly } from '#libs/identity/http';
import { oneOf, type Page } from '#libs/kernel';
import { ACCOUNT_SORTS, AccountLoads } from '../accounts.js';
import { Overview } from '../overview.js';
import { ACCOUNT_ID, AccountLoadView } from './account-load.view.js';

/** The state of the installation, for operators. */
@Controller('v1/overview')
@PlatformOnly()
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
  accounts(@QueryOf(readQuery) { page, ...asked }: ReturnType<typeof readQuery>): Answer {
    return listed(page, (of: Page) => this.loads.list(asked, of), AccountLoadView);
  }
}

const SORT = oneOf(ACCOUNT_SORTS);
const ORDER = oneOf(['asc', 'desc'] as const);

function readQuery(query: QueryReader) {
  return {
    page: query.page(ACCOUNT_ID),
    ...query.times(),
    ...given({ sort: query.valid('sort', SORT), order: query.valid('order', ORDER) }),
  };
}
