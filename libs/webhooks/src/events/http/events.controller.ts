import { Controller, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import {
  type Answer,
  answer,
  EXPORTABLE_PAGE,
  Href,
  type HrefBuilder,
  isStrict,
  JsonPieces,
  listAs,
  listed,
  listedOrExported,
  NEWEST_PAGE,
  NoRouteError,
  parameter,
  PLUS_AT_START,
  type Query,
  QueryOf,
  type ReadBody,
  shownWithList,
  TIMES,
} from '#libs/http';
import { type Principal, REPORTERS } from '#libs/identity';
import { accountShown, AllowedTo, CurrentUser, ownerSeen } from '#libs/identity/http';
import { DomainError, InternalError, type Page, ValidationError } from '#libs/kernel';
import { FailureLog } from '#libs/runtime';
import type { Acceptance, Unstored } from '../domain/event.js';
import { EventsService } from '../domain/events.service.js';
import { DeliveryView } from '../../deliveries/delivery.view.js';
import { ALL_RESOURCES, RESOURCES } from '../../event-kinds/domain/event-kinds.js';
import { eventParameter, resourceValidator } from '../../event-kinds/choices.schema.js';
import { eventsIn, givenBatch } from './event-batch.body.js';
import { refusalFault, singleEvent } from './event.body.js';
import { namedAccountOf, ofAccount } from './named-account.js';
import {
  AcceptedEventView,
  EventView,
  EventWithDataView,
  RefusedEventView,
  SHOWN,
} from './event.view.js';
import { CONTAINS } from '../../deliveries/contained-text.js';
import { StartsSending } from '../../deliveries/starts-sending.js';

const PLAIN_VIEW = EventView.without('data');

/** Filters by what never changes in an event. */
export const EVENT_FILTERS = {
  event: eventParameter('Only events of this kind'),
  resource: parameter.filter(
    resourceValidator,
    `Only events about this resource: ${RESOURCES.join(', ')}, or ${ALL_RESOURCES} for notices.`,
    'call',
  ),
  applicationId: parameter.numericId('Only events of this application.', '5080983'),
  accountId: parameter.numericId('For operators: only events of this account.', '83346'),
  producerId: parameter.text(
    `Only events with this producer's key. ${PLUS_AT_START}`,
    'cdr-8c1f3a',
  ),
  contains: CONTAINS,
};

const LIST = {
  ...EVENT_FILTERS,
  unmatched: parameter.flag(
    'Only events without a delivery (`true`), or with at least one (`false`).',
  ),
  missedBy: parameter.numericId(
    'Only events that match this subscription as it is now and were not delivered to it. The earliest are from 30 days ' +
      'before its creation.',
    '4711',
  ),
  include: parameter.choice(
    'Adds the `data` to each event. A page then ends at about 1 MiB of data.',
    ['data'],
  ),
  ...TIMES,
  page: EXPORTABLE_PAGE,
};

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
  @AllowedTo(REPORTERS)
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
  @AllowedTo(REPORTERS)
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
    @QueryOf(LIST) { page, accountId, include, ...filter }: Query<typeof LIST>,
  ): Answer {
    const owner = accountShown(accountId, user);
    const withData = include !== undefined;
    const read = (of: Page) => this.events.list(owner, { ...filter, withData }, of);
    return listedOrExported(page, read, withData ? EventView : PLAIN_VIEW, 'events');
  }

  @Get(':id')
  async show(@Param('id') id: string, @CurrentUser() user: Principal): Promise<Answer> {
    // The router matches each method separately, so GET /v1/events/batch arrives here.
    if (id === 'batch') throw new NoRouteError();
    const { event, unmatched, deliveries } = await this.events.show(id, ownerSeen(user));
    return shownWithList(EventWithDataView, event, {
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
    @QueryOf(NEWEST_PAGE) page: Page,
  ): Promise<Answer> {
    return listed(page, await this.events.deliveriesOf(id, ownerSeen(user)), DeliveryView);
  }
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
