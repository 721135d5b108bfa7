import { Controller, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import {
  type Answer,
  answer,
  given,
  Href,
  type HrefBuilder,
  isStrict,
  JsonPieces,
  listAs,
  listed,
  listedOrExported,
  NoRouteError,
  QueryOf,
  type QueryReader,
  type ReadBody,
  shownWithList,
} from '#libs/http';
import type { Principal } from '#libs/identity';
import { accountShown, CurrentUser, ownerSeen, PlatformOnly } from '#libs/identity/http';
import { DomainError, InternalError, oneOf, type Page, ValidationError } from '#libs/kernel';
import { FailureLog } from '#libs/runtime';
import type { Acceptance, Unstored } from '../domain/event.js';
import { type EventQuery, EventsService } from '../domain/events.service.js';
import { DeliveryView } from '../../deliveries/http/delivery.view.js';
import { eventKindValidator, resourceValidator } from '../../event-kinds/http/choices.schema.js';
import { eventsIn, givenBatch } from './event-batch.body.js';
import { refusalFault, singleEvent } from './event.body.js';
import { namedAccountOf, ofAccount } from './named-account.js';
import {
  AcceptedEventView,
  EventView,
  RefusedEventView,
  SHOWN,
  SingleEventView,
} from './event.view.js';
import { CONTAINED_TEXT } from '../../deliveries/http/contained-text.js';
import { StartsSending } from '../../deliveries/http/starts-sending.js';

const INCLUDE = oneOf(['data']);
const PLAIN_VIEW = EventView.without('data');

/** Accepts events from the platform, and shows them. */
@Controller('v1/events')
export class EventsController {
  constructor(
    private readonly events: EventsService,
    private readonly failures: FailureLog,
  ) {}

  @Post()
  @StartsSending()
  @HttpCode(202)
  @PlatformOnly()
  async report(
    @JsonPieces('MAX_BODY_BYTES') readBody: ReadBody,
    @Req() request: Request,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    const strict = isStrict(request);
    const given = await readBody((json) => singleEvent(json, strict));
    const account = namedAccountOf(request);
    const read = ofAccount(account, given);
    if ('faults' in read) throw new ValidationError(read.faults);
    const [acceptance] = await this.events.accept([read.event]);
    if (acceptance instanceof DomainError) throw acceptance;
    if (!acceptance?.accepted) throw refusalOf(acceptance, account);
    const location = href('events', acceptance.id);
    return answer(AcceptedEventView.show(acceptance, href), { location });
  }

  @Post('batch')
  @StartsSending()
  @HttpCode(202)
  @PlatformOnly()
  async reportBatch(
    @JsonPieces('MAX_BATCH_BYTES') readBody: ReadBody,
    @Req() request: Request,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    const strict = isStrict(request);
    const batch = await readBody((json) => givenBatch(json, strict));
    const account = namedAccountOf(request);
    const read = eventsIn(batch, strict).map((item) => ofAccount(account, item));
    const valid = read.flatMap((item) => ('event' in item ? [item.event] : []));
    const acceptances = (valid.length > 0 ? await this.events.accept(valid) : []).values();
    return listAs('results', read, (item, index) => {
      if ('faults' in item) return RefusedEventView.text(new ValidationError(item.faults), href);
      const acceptance = acceptances.next().value;
      if (acceptance instanceof DomainError) return this.unstored(acceptance, request, href);
      return acceptance?.accepted
        ? AcceptedEventView.text(acceptance, href)
        : RefusedEventView.text(refusalOf(acceptance, account, `/events/${index}`), href);
    });
  }

  /** The log says why an event of a batch was not stored, as it does for a single one. */
  private unstored(error: Unstored, { requestId }: Request, href: HrefBuilder): string {
    if (error instanceof InternalError) {
      this.failures.failed(error, { requestId, err: error }, 'request failed');
    }
    return RefusedEventView.text(error, href);
  }

  @Get()
  list(
    @CurrentUser() user: Principal,
    @QueryOf(readQuery) { page, filter, accountId }: ReturnType<typeof readQuery>,
  ): Answer {
    const owner = accountShown(accountId, user);
    const read = (of: Page) => this.events.list(owner, filter, of);
    const view = filter.withData === true ? EventView : PLAIN_VIEW;
    return listedOrExported(page, read, view, 'events');
  }

  @Get(':id')
  async show(@Param('id') id: string, @CurrentUser() user: Principal): Promise<Answer> {
    // The router matches each method separately, so GET /v1/events/batch arrives here.
    if (id === 'batch') throw new NoRouteError();
    const { event, unmatched, deliveries } = await this.events.show(id, ownerSeen(user));
    return shownWithList(SingleEventView, event, {
      name: 'deliveries',
      read: deliveries,
      view: DeliveryView,
      most: SHOWN,
      others: { unmatched },
    });
  }

  @Get(':id/deliveries')
  async deliveries(
    @Param('id') id: string,
    @CurrentUser() user: Principal,
    @QueryOf((query) => query.page()) page: Page,
  ): Promise<Answer> {
    return listed(page, await this.events.deliveriesOf(id, ownerSeen(user)), DeliveryView);
  }
}

function readQuery(query: QueryReader) {
  const page = query.exportablePage();
  const filter: EventQuery = {
    ...given({
      applicationId: query.numericId('applicationId'),
      unmatched: query.flag('unmatched'),
      event: query.filter('event', eventKindValidator),
      resource: query.filter('resource', resourceValidator),
      producerId: query.text('producerId'),
      contains: query.valid('contains', CONTAINED_TEXT),
      missedBy: query.numericId('missedBy'),
    }),
    ...query.times(),
    ...(query.valid('include', INCLUDE) !== undefined && { withData: true }),
  };
  return { page, filter, accountId: query.numericId('accountId') };
}

/** @param account that the request names */
function refusalOf(
  acceptance: Acceptance | undefined,
  account: string | undefined,
  pointer = '',
): ValidationError {
  if (!acceptance || acceptance.accepted)
    throw new Error('an event was neither accepted nor refused');
  return new ValidationError([refusalFault(acceptance.refusal, pointer, account !== undefined)]);
}
