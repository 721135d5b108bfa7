import { Injectable } from '@nestjs/common';
import { inSlices, MAX_SCANNED_BYTES } from '#libs/kernel';
import type { Filter } from '../../event-kinds/domain/filter.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';
import { WebhooksService } from '../../subscriptions/domain/webhooks.service.js';
import { type EventHead, EventReader } from './event.js';

/** Limits of a preview: events, those that it shows, and statements, each of which reads 10,000 rows at most. */
export const MAX_PREVIEWED = 1_000;
/** Events of one statement. */
const MAX_AT_ONCE = 200;
const MAX_SHOWN = 10;
const MAX_STATEMENTS = 20;

/** What a filter would do to a subscription. */
export interface FilterPreview {
  /** How many of the newest events that the subscription is for were judged. */
  events: number;
  /** How many of them match. */
  matching: number;
  /** When the oldest of them was accepted. */
  since?: Date;
  /** The newest ones that match, without their data. */
  examples: EventHead[];
}

/** Which events a subscription is for. */
interface Wanted extends Pick<Webhook, 'event' | 'resource'> {
  applicationId?: string | undefined;
}

/** Tries filters on the events that are stored. */
@Injectable()
export class FilterPreviewsService {
  constructor(
    private readonly reader: EventReader,
    private readonly webhooks: WebhooksService,
  ) {}

  /**
   * Judges the newest events of the kind, the resources and the application of a subscription.
   * @param filter null matches every event
   * @throws NotFoundError
   */
  async preview(
    accountId: string,
    webhookId: string,
    filter: Filter | null,
  ): Promise<FilterPreview> {
    const { event, resource, applicationId } = await this.webhooks.get(accountId, webhookId);
    const wanted = { event, resource, applicationId: applicationId ?? undefined };
    return this.previewFor(accountId, wanted, filter);
  }

  /** {@link preview} for a subscription that need not exist. */
  async previewFor(
    accountId: string,
    { event, resource, applicationId }: Wanted,
    filter: Filter | null,
  ): Promise<FilterPreview> {
    const asked = {
      ...{ event, resources: resource, withData: true },
      ...(applicationId !== undefined && { applicationId }),
    };
    const preview: FilterPreview = { events: 0, matching: 0, examples: [] };
    let bytes = 0;
    let after: string | undefined;
    for (let statements = 0; statements < MAX_STATEMENTS; statements += 1) {
      const limit = Math.min(MAX_PREVIEWED - preview.events, MAX_AT_ONCE);
      const page = { limit, ...(after !== undefined && { after }) };
      const { rows, stoppedAt } = await this.reader.list(accountId, asked, page);
      for (const { data = '', ...head } of rows) {
        bytes += data.length;
        if (filter && !(await inSlices(accountId, filter.matches(data)))) continue;
        preview.matching += 1;
        if (preview.examples.length < MAX_SHOWN) preview.examples.push(head);
      }
      preview.events += rows.length;
      const oldest = rows.at(-1);
      if (oldest) preview.since = oldest.createdAt;
      after = stoppedAt ?? (rows.length === limit ? oldest?.id : undefined);
      const isFull = preview.events === MAX_PREVIEWED || bytes >= MAX_SCANNED_BYTES;
      if (after === undefined || isFull) break;
    }
    return preview;
  }
}
