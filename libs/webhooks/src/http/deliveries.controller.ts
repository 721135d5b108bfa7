import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  answerPage,
  Href,
  type HrefBuilder,
  Idempotent,
  type Once,
  QueryReader,
  textsOf,
  timesOf,
} from '#libs/kernel/http';
import type { Principal } from '#libs/identity';
import { CurrentUser } from '#libs/identity/http';
import { DeliveriesService } from '../domain/deliveries.service.js';
import { DeliveryStatisticsService } from '../domain/delivery-statistics.js';
import type { DeliveryFilter } from '../domain/delivery-store.js';
import { deliveryView, deliveryWithAttempts } from './delivery.view.js';
import { located } from './located.js';

/** What was delivered to a customer, and how it went. */
@Controller('v1')
export class DeliveriesController {
  constructor(
    private readonly deliveries: DeliveriesService,
    private readonly statistics: DeliveryStatisticsService,
  ) {}

  @Get('webhooks/:id/deliveries')
  async list(
    @Param('id') webhookId: string,
    @CurrentUser() user: Principal,
    @Href() href: HrefBuilder,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const query = new QueryReader(request);
    const page = query.page();
    const filter = filterOf(query);
    query.done();
    const read = await this.deliveries.list(user.userId, webhookId, filter);
    await answerPage(request, response, page, read, (delivery) => deliveryView(delivery, href));
  }

  @Get('webhooks/:id/stats')
  async stats(@Param('id') webhookId: string, @CurrentUser() user: Principal): Promise<object> {
    return this.statistics.of(user.userId, webhookId);
  }

  @Get('deliveries/:id')
  async show(
    @Param('id') id: string,
    @CurrentUser() user: Principal,
    @Href() href: HrefBuilder,
  ): Promise<object> {
    const { delivery, attempts } = await this.deliveries.show(user.userId, id);
    return deliveryWithAttempts(delivery, attempts, href);
  }

  @Post('deliveries/:id/redeliver')
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

function filterOf(query: QueryReader): DeliveryFilter {
  return { ...textsOf(query, ['state', 'event']), ...timesOf(query) };
}
