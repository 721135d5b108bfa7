import { Field, Is } from '#libs/http';
import { numericId } from '#libs/kernel';

/** `POST /v1/events/:id/deliveries` */
export class DeliverRequestDto {
  @Field({ required: true, about: 'The subscription to send the event to.', example: '4711' })
  @Is(numericId())
  webhookId!: string | number;
}
