import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  among,
  answerList,
  answerPieces,
  arrayPieces,
  filtersOf,
  Href,
  type HrefBuilder,
  Idempotent,
  type Once,
  QueryReader,
  refuseMethod,
  timesOf,
  withMember,
} from '#libs/http';
import type { Principal } from '#libs/identity';
import { ActAsUser, CurrentUser, LimitedTo } from '#libs/identity/http';
import type { Page } from '#libs/kernel';
import { DeliveriesService } from '../domain/deliveries.service.js';
import { type Delivery, DELIVERY_STATES } from '../domain/delivery.js';
import type { DeliveryFilter } from '../domain/delivery-store.js';
import { RESULT } from './last-result.js';
import { AttemptView, DeliveryView, LOGGED, visibleAttempt } from './delivery.view.js';
import { accountShown, ownerSeen } from '../../subscriptions/http/account-shown.js';
import { EVENT_KINDS } from '../../event-kinds/domain/event-kinds.js';
import { located } from '../../subscriptions/http/located.js';
import { StartsSending } from './starts-sending.js';

/** Limited because each test calls a target at once, even if it is blocked, and adds an audit entry. */
const TESTS = { quota: 600, windowMs: 60_000, what: 'test' };

const FILTERS = { state: among(DELIVERY_STATES), event: among(EVENT_KINDS), status: RESULT };

/** A customer's deliveries, and their attempts. */
@Controller('v1')
@ActAsUser()
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Get('deliveries')
  async list(
    @CurrentUser() user: Principal,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const query = new QueryReader(request);
    const page = query.page();
    const filter = { ...filterOf(query), ...placeOf(query, user) };
    query.done();
    const read = (of: Page) => this.deliveries.list(filter, of);
    await answerList(request, response, page, read, DeliveryView);
  }

  @Get('webhooks/:id/deliveries')
  async listOf(
    @Param('id') webhookId: string,
    @CurrentUser() user: Principal,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const query = new QueryReader(request);
    const page = query.page();
    const filter = filterOf(query);
    query.done();
    const read = await this.deliveries.listOf(user.userId, webhookId, filter);
    await answerList(request, response, page, read, DeliveryView);
  }

  @Get('deliveries/:id')
  async show(
    @Param('id') id: string,
    @CurrentUser() user: Principal,
    @Href() href: HrefBuilder,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    // The router matches each method separately, so GET /v1/deliveries/redeliver arrives here.
    if (id === 'redeliver') refuseMethod(request, response);
    const delivery = await this.deliveries.get(ownerSeen(user), id);
    const after = String(Math.max(delivery.attempts - LOGGED, 0));
    const log = arrayPieces(request, this.attemptsOf(delivery, user), { after });
    const text = DeliveryView.text(delivery, href);
    await answerPieces(request, response, withMember(text, 'attemptLog', log));
  }

  @Get('deliveries/:id/attempts')
  async attempts(
    @Param('id') id: string,
    @CurrentUser() user: Principal,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const query = new QueryReader(request);
    const page = query.page(isAttemptNumber);
    query.done();
    const delivery = await this.deliveries.get(ownerSeen(user), id);
    const { read, view } = this.attemptsOf(delivery, user);
    await answerList(request, response, page, read, view);
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
  ): Promise<object> {
    return once(async () => {
      await this.deliveries.redeliver(user.userId, id);
      return href('deliveries', id);
    });
  }

  @Post('deliveries/:id/cancel')
  @HttpCode(200)
  async cancel(
    @Param('id') id: string,
    @CurrentUser() user: Principal,
    @Href() href: HrefBuilder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    await this.deliveries.cancel(user.userId, id);
    return located(response, href('deliveries', id));
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
  ): Promise<object> {
    return once(async () => href('deliveries', await this.deliveries.test(user.userId, webhookId)));
  }
}

function isAttemptNumber(text: string): boolean {
  return /^\d{1,9}$/.test(text);
}

function filterOf(query: QueryReader): DeliveryFilter {
  return { ...filtersOf(query, FILTERS), ...timesOf(query) };
}

/** Where to look. */
function placeOf(query: QueryReader, user: Principal): DeliveryFilter {
  const accountId = accountShown(query, user);
  const webhookId = query.numericId('webhookId');
  const applicationId = query.numericId('applicationId');
  return {
    ...(accountId !== undefined && { accountId }),
    ...(webhookId !== undefined && { webhook: { id: webhookId } }),
    ...(applicationId !== undefined && { applicationId }),
  };
}
