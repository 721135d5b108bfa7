import { Controller, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import {
  type Answer,
  answer,
  given,
  Href,
  type HrefBuilder,
  isStrict,
  type JsonText,
  listed,
  listedOrExported,
  MAX_DEPTH,
  NoRouteError,
  QueryOf,
  type QueryReader,
  RawJsonBody,
  shownWithList,
  unknownMembers,
} from '#libs/http';
import type { Principal } from '#libs/identity';
import { accountShown, CurrentUser, ownerSeen, PlatformOnly } from '#libs/identity/http';
import {
  type FieldFault,
  oneOf,
  type Page,
  rawElements,
  rawMember,
  tooDeepAt,
  UnavailableError,
  ValidationError,
} from '#libs/kernel';
import type { Acceptance, ReportedEvent } from '../domain/event.js';
import { type EventQuery, EventsService } from '../domain/events.service.js';
import { DeliveryView } from '../../deliveries/http/delivery.view.js';
import { eventKindValidator, resourceValidator } from '../../event-kinds/http/choices.schema.js';
import { EventBatchSchema, MAX_BATCH, readEvent, refusalFault } from './event.body.js';
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
  constructor(private readonly events: EventsService) {}

  @Post()
  @StartsSending()
  @HttpCode(202)
  @PlatformOnly()
  async report(
    @RawJsonBody('MAX_BODY_BYTES') body: JsonText,
    @Req() request: Request,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    const account = namedAccountOf(request);
    const read = ofAccount(account, readEvent(body.value, body.text, '', isStrict(request)));
    if ('faults' in read) throw new ValidationError(read.faults);
    const [acceptance] = await this.events.accept([read.event]);
    if (acceptance instanceof UnavailableError) throw acceptance;
    if (!acceptance?.accepted) throw refusalOf(acceptance, account);
    const location = href('events', acceptance.id);
    return answer(AcceptedEventView.show(acceptance, href), { location });
  }

  @Post('batch')
  @StartsSending()
  @HttpCode(202)
  @PlatformOnly()
  async reportBatch(
    @RawJsonBody('MAX_BATCH_BYTES') body: JsonText,
    @Req() request: Request,
    @Href() href: HrefBuilder,
  ): Promise<object> {
    const account = namedAccountOf(request);
    const read = readBatch(body, isStrict(request)).map((item) => ofAccount(account, item));
    const valid = read.flatMap((item) => ('event' in item ? [item.event] : []));
    const acceptances = (valid.length > 0 ? await this.events.accept(valid) : []).values();
    const results = read.map((item, index) => {
      if ('faults' in item) return RefusedEventView.show(new ValidationError(item.faults), href);
      const acceptance = acceptances.next().value;
      if (acceptance instanceof UnavailableError) return RefusedEventView.show(acceptance, href);
      return acceptance?.accepted
        ? AcceptedEventView.show(acceptance, href)
        : RefusedEventView.show(refusalOf(acceptance, account, `/events/${index}`), href);
    });
    return { results };
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

function readBatch(
  body: JsonText,
  strict: boolean,
): ({ event: ReportedEvent } | { faults: FieldFault[] })[] {
  const unknown = strict ? unknownMembers(body.value, EventBatchSchema) : [];
  if (unknown.length > 0) throw new ValidationError(unknown);
  const { events } = body.value;
  if (events === undefined || events === null) {
    const hint = body.value['event'] === undefined ? '' : ' (POST /v1/events takes a single event)';
    throw ValidationError.of('events', 'required', `events is required${hint}.`);
  }
  if (!Array.isArray(events))
    throw ValidationError.of('events', 'type', 'events must be an array.');
  if (events.length < 1 || events.length > MAX_BATCH) {
    const message = `events must have 1 to ${String(MAX_BATCH)} elements.`;
    throw ValidationError.of('events', 'length', message);
  }
  const texts = rawElements(rawMember(body.text, 'events') ?? '[]');
  return events.map((event: unknown, index) => {
    const text = texts[index] ?? '';
    const pointer = `/events/${index}`;
    return tooDeepAt(text, MAX_DEPTH) < 0
      ? readEvent(event, text, pointer, strict)
      : { faults: [tooDeepFault(pointer)] };
  });
}

function tooDeepFault(field: string): FieldFault {
  const message = `The event ${field} must have at most ${MAX_DEPTH} levels.`;
  return { field, code: 'length', message };
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
