import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import {
  type Answer,
  EXPORTABLE_PAGE,
  given,
  Href,
  type HrefBuilder,
  Idempotent,
  listed,
  listedOrExported,
  located,
  NEWEST_PAGE,
  NoRouteError,
  type Once,
  parameter,
  PLUS_AT_START,
  type Query,
  QueryOf,
  schema,
  shownWithList,
  TIMES,
} from '#libs/http';
import type { Principal } from '#libs/identity';
import { accountShown, ActAsUser, CurrentUser, LimitedTo, ownerSeen } from '#libs/identity/http';
import { oneOf, type Page, string } from '#libs/kernel';
import { CONTAINS } from '../contained-text.js';
import { DeliveriesService } from '../domain/deliveries.service.js';
import { ATTEMPT_ERRORS, type Delivery, DELIVERY_STATES } from '../domain/delivery.js';
import { RESULT } from '../last-result.js';
import { AttemptView, DeliveryView, LOGGED, visibleAttempt } from '../delivery.view.js';
import { eventParameter } from '../../event-kinds/choices.schema.js';
import { StartsSending } from '../starts-sending.js';

/** Limited because each of them calls a target at once, even if it is blocked, and adds an audit entry. */
const TESTS = { quota: 600, windowMs: 60_000, what: 'test' };
const SENDS = { ...TESTS, what: 'delivery sent at once' };

const PLAIN_VIEW = DeliveryView.without('notification');
const ATTEMPT = string().and('format', 'must be an id', (text) => /^\d{1,9}$/.test(text));

const LIST_OF_SUBSCRIPTION = {
  filter: {
    state: parameter.filter(
      oneOf(DELIVERY_STATES),
      `Only deliveries in this state: ${DELIVERY_STATES.join(', ')}.`,
      'succeeded',
    ),
    event: eventParameter('Only deliveries of events of this kind'),
    status: parameter.filter(
      RESULT,
      'Only deliveries whose last attempt had this result: a status such as `404`, a class such as `5xx`, an ' +
        `error (${ATTEMPT_ERRORS.join(', ')}), or \`failed\` for all but 2xx.`,
      '5xx',
    ),
    producerId: parameter.text(
      `Only deliveries of events with this producer's key. ${PLUS_AT_START}`,
      'cdr-8c1f3a',
    ),
    contains: CONTAINS,
    include: parameter.choice(
      'Adds the `notification` to each delivery. A page then ends at about 1 MiB of notifications.',
      ['notification'],
    ),
    ...TIMES,
  },
  page: EXPORTABLE_PAGE,
};
const LIST = {
  webhookId: parameter.numericId('Only deliveries to this subscription.', '4711'),
  applicationId: parameter.numericId('Only deliveries of events of this application.', '5080983'),
  accountId: parameter.numericId('For operators: only deliveries of this account.', '83346'),
  ...LIST_OF_SUBSCRIPTION,
};
const ATTEMPTS = {
  limit: NEWEST_PAGE.limit,
  after: parameter.valid(ATTEMPT, 'Returns the attempts after the one with this number.', {
    ...schema.integer('', 100),
    minimum: 0,
    maximum: 999_999_999,
  }),
};

/** A customer's deliveries, and their attempts. */
@Controller('v1')
@ActAsUser()
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Get('deliveries')
  list(
    @CurrentUser() user: Principal,
    @QueryOf(LIST) { page, filter, accountId: asked, webhookId, applicationId }: Query<typeof LIST>,
  ): Answer {
    const scope = accountShown(asked, user);
    const place = given({
      webhook: webhookId === undefined ? undefined : { id: webhookId },
      applicationId,
    });
    const read = (of: Page) => this.deliveries.list(scope, { ...filterOf(filter), ...place }, of);
    return listedOrExported(page, read, viewOf(filter), 'deliveries');
  }

  @Get('webhooks/:id/deliveries')
  async listOf(
    @Param('id') webhookId: string,
    @CurrentUser() user: Principal,
    @QueryOf(LIST_OF_SUBSCRIPTION) { page, filter }: Query<typeof LIST_OF_SUBSCRIPTION>,
  ): Promise<Answer> {
    const read = await this.deliveries.listOf(user.userId, webhookId, filterOf(filter));
    return listedOrExported(page, read, viewOf(filter), 'deliveries');
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
    @QueryOf(ATTEMPTS) page: Page,
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

type GivenFilter = Query<typeof LIST>['filter'];

function viewOf({ include }: GivenFilter) {
  return include ? DeliveryView : PLAIN_VIEW;
}

function filterOf({ include, ...filter }: GivenFilter) {
  return { ...filter, withNotification: include !== undefined };
}
