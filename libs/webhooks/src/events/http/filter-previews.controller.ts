import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import {
  type Answer,
  computed,
  FairReads,
  type FairRead,
  JsonBody,
  schema,
  shown,
  viewOf,
} from '#libs/http';
import type { Principal } from '#libs/identity';
import { CurrentUser } from '#libs/identity/http';
import { Field, IdField, oneOf } from '#libs/kernel';
import { EventKindSchema } from '../../event-kinds/choices.schema.js';
import {
  EVENT_KINDS,
  type EventKind,
  parseResources,
} from '../../event-kinds/domain/event-kinds.js';
import { type Filter, filterValidator } from '../../event-kinds/domain/filter.js';
import { FILTER, resourceList } from '../../subscriptions/webhook-validators.js';
import {
  type FilterPreview,
  FilterPreviewsService,
  MAX_PREVIEWED,
} from '../domain/filter-previews.service.js';
import { EventView } from './event.view.js';

/** `POST /v1/webhooks/:id/filter/preview` */
class FilterPreviewRequestDto {
  @Field(filterValidator, { ...FILTER, required: true })
  filter!: Filter | null;
}

/** `POST /v1/webhooks/filter/preview`: what a subscription would be for. */
class NewFilterPreviewRequestDto extends FilterPreviewRequestDto {
  @Field(oneOf(EVENT_KINDS, EventKindSchema), {
    required: true,
    about: 'The kind of event that the subscription would get.',
    example: 'cdrCreated',
  })
  event!: EventKind;

  @Field(resourceList, {
    required: true,
    about: 'What the events are about.',
    example: 'call,sms',
    read: parseResources,
  })
  resource!: string;

  @IdField({
    about:
      'The application whose events it would get; by default, it would get those of the account.',
    example: '5080983',
  })
  applicationId?: string;
}

const ExampleView = EventView.without('data');

/** What a filter would do. */
export const FilterPreviewView = viewOf<FilterPreview>()('FilterPreview', {
  events: schema.integer(
    `The number of events examined: the newest ${MAX_PREVIEWED.toLocaleString('en')} of the kind and resources of the ` +
      'subscription, or fewer if there are fewer or they are long.',
    MAX_PREVIEWED,
  ),
  matching: schema.integer('The number of these events that match the filter.', 37),
  since: schema.optional(schema.time('When the oldest of these events was accepted.')),
  examples: computed(
    {
      ...schema.arrayOf(EventView.schema),
      description: 'The newest events that match, at most ten.',
    },
    ({ examples }, href) => examples.map((event) => ExampleView.show(event, href)),
  ),
});

/** Shows what a filter would do to a customer's subscription, or to one that does not exist yet. */
@Controller('v1/webhooks')
export class FilterPreviewsController {
  constructor(private readonly previews: FilterPreviewsService) {}

  @Post(':id/filter/preview')
  @HttpCode(200)
  async preview(
    @Param('id') webhookId: string,
    @CurrentUser() { userId }: Principal,
    @JsonBody(FilterPreviewRequestDto) { filter }: FilterPreviewRequestDto,
    @FairReads() readFairly: FairRead,
  ): Promise<Answer> {
    const read = () => this.previews.preview(userId, webhookId, filter);
    return shown(FilterPreviewView, await readFairly(read));
  }

  @Post('filter/preview')
  @HttpCode(200)
  async previewNew(
    @CurrentUser() { userId }: Principal,
    @JsonBody(NewFilterPreviewRequestDto) { filter, ...wanted }: NewFilterPreviewRequestDto,
    @FairReads() readFairly: FairRead,
  ): Promise<Answer> {
    const read = () => this.previews.previewFor(userId, wanted, filter);
    return shown(FilterPreviewView, await readFairly(read));
  }
}
