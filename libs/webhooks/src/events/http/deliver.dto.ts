import { Field, IsId } from '#libs/http';

/** `POST /v1/events/:id/deliveries` */
export class DeliverRequestDto {
  @Field({ required: true, about: 'The subscription to send the event to.', example: '4711' })
  @IsId()
  webhookId!: string | number;
}
