import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import {
  type Answer,
  given,
  Href,
  type HrefBuilder,
  Idempotent,
  listed,
  listedOrExported,
  located,
  NoRouteError,
  type Once,
  QueryOf,
  type QueryReader,
  shownWithList,
} from '#libs/http';
import type { Principal } from '#libs/identity';
import { accountShown, ActAsUser, CurrentUser, LimitedTo, ownerSeen } from '#libs/identity/http';
import { oneOf, type Page, string } from '#libs/kernel';
import { CONTAINED_TEXT } from './contained-text.js';
import { DeliveriesService } from '../domain/deliveries.service.js';
import { type Delivery, DELIVERY_STATES, type DeliveryFilter } from '../domain/delivery.js';
import { RESULT } from './last-result.js';
import { AttemptView, DeliveryView, LOGGED, visibleAttempt } from './delivery.view.js';
import { eventKindValidator } from '../../event-kinds/http/choices.schema.js';
import { StartsSending } from './starts-sending.js';

/** Limited because each of them calls a target at once, even if it is blocked, and adds an audit entry. */
const TESTS = { quota: 600, windowMs: 60_000, what: 'test' };
const SENDS = { ...TESTS, what: 'delivery sent at once' };

const STATE = oneOf(DELIVERY_STATES);
const INCLUDE = oneOf(['notification']);
const PLAIN_VIEW = DeliveryView.without('notification');
const ATTEMPT = string().and('format', 'must be an id', (text) => /^\d{1,9}$/.test(text));

/** A customer's deliveries, and their attempts. */
@Controller('v1')
@ActAsUser()
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Get('deliveries')
  list(
    @CurrentUser() user: Principal,
    @QueryOf(readQuery) { page, filter, accountId: asked, ...ids }: ReturnType<typeof readQuery>,
  ): Answer {
    const { webhookId, applicationId } = ids;
    const place = given({
      accountId: accountShown(asked, user),
      webhook: webhookId === undefined ? undefined : { id: webhookId },
      applicationId,
    });
    const read = (of: Page) => this.deliveries.list({ ...filter, ...place }, of);
    return listedOrExported(page, read, viewFor(filter), 'deliveries');
  }

  @Get('webhooks/:id/deliveries')
  async listOf(
    @Param('id') webhookId: string,
    @CurrentUser() user: Principal,
    @QueryOf((query) => ({ page: query.exportablePage(), filter: filterOf(query) }))
    { page, filter }: { page: Page; filter: DeliveryFilter },
  ): Promise<Answer> {
    const read = await this.deliveries.listOf(user.userId, webhookId, filter);
    return listedOrExported(page, read, viewFor(filter), 'deliveries');
  }

  @Get('deliveries/:id')
  async show(@Param('id') id: string, @CurrentUser() user: Principal): Promise<Answer> {
    // The router matches each method separately, so GET /v1/deliveries/redeliver arrives here.
    if (id === 'redeliver' || id === 'send') throw new NoRouteError();
    const delivery = await this.deliveries.get(ownerSeen(user), id);
    return shownWithList(DeliveryView, delivery, {
      name: 'attemptLog',
      after: String(Math.max(delivery.attempts - LOGGED, 0)),
      ...this.attemptsOf(delivery, user),
    });
  }

  @Get('deliveries/:id/attempts')
  async attempts(
    @Param('id') id: string,
    @CurrentUser() user: Principal,
    @QueryOf((query) => query.page(ATTEMPT)) page: Page,
  ): Promise<Answer> {
    const delivery = await this.deliveries.get(ownerSeen(user), id);
    const { read, view } = this.attemptsOf(delivery, user);
    return listed(page, read, view);
  }

  /** The attempts of a delivery, whose ids are their numbers. */
  private attemptsOf(delivery: Delivery, viewer: Principal) {
    return {
      read: async ({ after = '0', limit }: Page) =>
        (await this.deliveries.attempts(delivery, Number(after), limit)).map((attempt) => ({
          id: String(attempt.number),
          ...visibleAttempt(attempt, delivery, viewer),
        })),
      view: AttemptView,
    };
  }

  @Post('deliveries/:id/redeliver')
  @StartsSending()
  @HttpCode(202)
  async redeliver(
    @Param('id') id: string,
    @CurrentUser() user: Principal,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    return once(async () => {
      await this.deliveries.redeliver(user.userId, id);
      return href('deliveries', id);
    });
  }

  @Post('deliveries/:id/send')
  @StartsSending()
  @LimitedTo(SENDS)
  @HttpCode(202)
  async send(
    @Param('id') id: string,
    @CurrentUser() user: Principal,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    return once(async () => {
      await this.deliveries.send(user.userId, id);
      return href('deliveries', id);
    });
  }

  @Post('deliveries/:id/cancel')
  @HttpCode(200)
  async cancel(
    @Param('id') id: string,
    @CurrentUser() user: Principal,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    await this.deliveries.cancel(user.userId, id);
    return located(href('deliveries', id));
  }

  @Post('webhooks/:id/test')
  @StartsSending()
  @LimitedTo(TESTS)
  @HttpCode(202)
  async test(
    @Param('id') webhookId: string,
    @CurrentUser() user: Principal,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    return once(async () => href('deliveries', await this.deliveries.test(user.userId, webhookId)));
  }
}

function viewFor({ withNotification = false }: DeliveryFilter) {
  return withNotification ? DeliveryView : PLAIN_VIEW;
}

function filterOf(query: QueryReader): DeliveryFilter {
  const filter = {
    state: query.filter('state', STATE),
    event: query.filter('event', eventKindValidator),
    status: query.filter('status', RESULT),
    producerId: query.text('producerId'),
    contains: query.valid('contains', CONTAINED_TEXT),
  };
  const withNotification = query.valid('include', INCLUDE) !== undefined;
  return { ...given(filter), ...query.times(), ...(withNotification && { withNotification }) };
}

function readQuery(query: QueryReader) {
  return {
    page: query.exportablePage(),
    filter: filterOf(query),
    accountId: query.numericId('accountId'),
    webhookId: query.numericId('webhookId'),
    applicationId: query.numericId('applicationId'),
  };
}
