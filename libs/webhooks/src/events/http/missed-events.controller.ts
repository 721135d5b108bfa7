import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { type Answer, Href, type HrefBuilder, Idempotent, JsonBody, type Once } from '#libs/http';
import type { Principal } from '#libs/identity';
import { ActAsUser, CurrentUser } from '#libs/identity/http';
import { IdField } from '#libs/kernel';
import { EventsService } from '../domain/events.service.js';
import { StartsSending } from '../../deliveries/starts-sending.js';

/** `POST /v1/events/:id/deliveries` */
class DeliverRequestDto {
  @IdField({
    required: true,
    about: 'The id of the subscription to send the event to.',
    example: '4711',
  })
  webhookId!: string;
}

/** Sends a customer's subscriptions the events that they have missed. */
@Controller('v1/events')
@ActAsUser()
export class MissedEventsController {
  constructor(private readonly events: EventsService) {}

  @Post(':id/deliveries')
  @StartsSending()
  @HttpCode(202)
  async deliver(
    @Param('id') id: string,
    @CurrentUser() { userId }: Principal,
    @JsonBody(DeliverRequestDto) { webhookId }: DeliverRequestDto,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    const deliver = () => this.events.deliver(userId, id, webhookId);
    return once(async () => href('deliveries', await deliver()));
  }
}
