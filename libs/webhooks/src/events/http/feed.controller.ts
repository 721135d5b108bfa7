import { Controller, Get, Req } from '@nestjs/common';
import type { Request } from 'express';
import {
  type Answer,
  FEED_PAGE,
  followed,
  parameter,
  type Query,
  QueryOf,
  readFairly,
} from '#libs/http';
import type { Principal } from '#libs/identity';
import { accountShown, CurrentUser, UnauthorizedError } from '#libs/identity/http';
import { UnavailableError } from '#libs/kernel';
import { FeedService, type FeedWait } from '../domain/feed.service.js';
import { EventWithDataView } from './event.view.js';
import { EVENT_FILTERS } from './events.controller.js';

const MAX_WAIT_S = 30;

const FEED = {
  ...EVENT_FILTERS,
  since: parameter.time(
    'Begins with the first event accepted at this time or later, or with the oldest that is kept. Ignored if `after` is given.',
  ),
  wait: parameter.number(
    MAX_WAIT_S,
    'Answers as soon as there is an event, or after this many seconds.',
    20,
  ),
  page: FEED_PAGE,
};

/** All events of an account in an order that never changes, for programs that must miss none. */
@Controller('v1/feed')
export class FeedController {
  constructor(private readonly feed: FeedService) {}

  @Get()
  follow(
    @CurrentUser() user: Principal,
    @Req() request: Request,
    @QueryOf(FEED) { page, accountId, since, wait, ...filter }: Query<typeof FEED>,
  ): Answer {
    const scope = accountShown(accountId, user);
    const { after, limit } = page;
    const start = { ...(after !== undefined && { after }), ...(since && { since }) };
    return followed(
      limit,
      (end) => {
        const waiting = wait === undefined ? undefined : waitOf(request, user, wait, end);
        return this.feed.open(scope, filter, start, waiting);
      },
      EventWithDataView,
    );
  }
}

function waitOf(
  request: Request,
  { userId }: Principal,
  seconds: number,
  end: AbortSignal,
): FeedWait {
  return {
    ...{ userId, ms: seconds * 1_000, end },
    look: (work) => readFairly(request, work),
    check: async () => {
      end.throwIfAborted();
      if (!(await isStillLoggedIn(request))) throw new UnauthorizedError();
    },
  };
}

/** While the database is away, the credentials are neither confirmed nor refused. */
async function isStillLoggedIn(request: Request): Promise<boolean> {
  try {
    return (await request.isStillLoggedIn?.()) === true;
  } catch (error) {
    if (error instanceof UnavailableError) return true;
    throw error;
  }
}
