import { Injectable } from '@nestjs/common';
import { NotFoundError } from '#libs/kernel';
import { TypeOrmTransactions } from '#libs/runtime';
import type { Attempt, Delivery } from '../../deliveries/domain/delivery.js';
import { boundsOf } from '../../partitions/delivery-by-key.js';
import { byDay } from '../../partitions/partition-days.js';
import { type Span, spansOf } from '../../partitions/partition-walk.js';
import { attemptOf } from '../../deliveries/infrastructure/sent-text.js';
import { deliveryOf } from '../../deliveries/infrastructure/shown-delivery.statements.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';
import { WebhooksService } from '../../subscriptions/domain/webhooks.service.js';
import type { Entry } from '../domain/activity-log.js';
import { ActivityReader, type Message } from '../domain/activity-reader.js';
import { DAYS_FOUND, findAttempts, findDeliveries } from './activity.statements.js';

/** Reads what activity is about from PostgreSQL, with a statement or two for a batch of entries. */
@Injectable()
export class PostgresActivityReader extends ActivityReader {
  constructor(
    private readonly transactions: TypeOrmTransactions,
    private readonly webhooks: WebhooksService,
  ) {
    super();
  }

  override async read(accountId: string, entries: readonly Entry[]): Promise<Message[][]> {
    const deliveries = await this.deliveriesOf(accountId, entries);
    const attempts = await this.attemptsOf(entries);
    const webhooks = await this.webhooksOf(accountId, entries);
    const messages = entries.map(({ happening }): Message[] => {
      if (happening === 'interrupted') return [{ kind: happening }];
      const { kind, id } = happening;
      if (kind === 'webhook') {
        const webhook = webhooks.get(id);
        return webhook ? [{ kind, webhook }] : [];
      }
      const about = deliveries.filter((one) => (kind === 'event' ? one.eventId : one.id) === id);
      return about.flatMap((delivery): Message[] => {
        const attempt = kind === 'attempt' && attempts.get(attemptKey(happening));
        const attempted: Message[] = attempt ? [{ kind: 'attempt', delivery, attempt }] : [];
        return [...attempted, { kind: 'delivery', delivery }];
      });
    });
    return lastOfEach(messages);
  }

  private async deliveriesOf(accountId: string, entries: readonly Entry[]): Promise<Delivery[]> {
    const wanted = idsOf(entries, 'event', 'delivery', 'attempt');
    const events = new Set(idsOf(entries, 'event'));
    const found = new Map<string, Delivery>();
    for (const [span, ids] of inSpans(wanted)) {
      const eventIds = ids.filter((id) => events.has(id));
      const bounds = eventIds.map(boundsOf);
      const rows = await this.transactions.query(findDeliveries(span), {
        accountId,
        ids: ids.filter((id) => !events.has(id)),
        eventIds,
        least: bounds.map(({ least }) => least),
        greatest: bounds.map(({ greatest }) => greatest),
      });
      for (const row of rows) found.set(row.id, deliveryOf(row));
    }
    return [...found.values()];
  }

  private async attemptsOf(entries: readonly Entry[]): Promise<Map<string, Attempt>> {
    const wanted = entries.flatMap(({ happening }) =>
      happening !== 'interrupted' && happening.kind === 'attempt' ? [happening] : [],
    );
    const found = new Map<string, Attempt>();
    for (const [span, ids] of inSpans(wanted.map(({ id }) => id))) {
      const within = wanted.filter(({ id }) => ids.includes(id));
      const rows = await this.transactions.query(findAttempts(span), {
        deliveryIds: within.map(({ id }) => id),
        numbers: within.map(({ number }) => number),
      });
      for (const row of rows) {
        const key = attemptKey({ id: row.deliveryId, number: row.number });
        found.set(key, attemptOf(row));
      }
    }
    return found;
  }

  private async webhooksOf(
    accountId: string,
    entries: readonly Entry[],
  ): Promise<Map<string, Webhook>> {
    const found = new Map<string, Webhook>();
    for (const id of new Set(idsOf(entries, 'webhook'))) {
      try {
        found.set(id, await this.webhooks.get(accountId, id));
      } catch (error) {
        if (!(error instanceof NotFoundError)) throw error;
      }
    }
    return found;
  }
}

function idsOf(entries: readonly Entry[], ...kinds: string[]): string[] {
  return entries.flatMap(({ happening }) =>
    happening !== 'interrupted' && kinds.includes(happening.kind) ? [happening.id] : [],
  );
}

/** Shows what several entries are about once, with the last of them: it is shown as it is now. */
function lastOfEach(messages: Message[][]): Message[][] {
  const shown = new Set<Delivery | Webhook>();
  const isLast = (subject: Delivery | Webhook) => !shown.has(subject) && shown.add(subject);
  return messages
    .toReversed()
    .map((ofEntry) =>
      ofEntry.filter((message) => {
        if (message.kind === 'delivery') return isLast(message.delivery);
        return message.kind !== 'webhook' || isLast(message.webhook);
      }),
    )
    .reverse();
}

function attemptKey({ id, number }: { id: string; number: number }): string {
  return `${id} ${number}`;
}

/** The ids by spans of days, of which a statement opens only the partitions. */
function inSpans(ids: readonly string[]): [Span, string[]][] {
  const days = byDay(new Set(ids), (id) => id);
  const newest = [...days.keys()].sort((one, other) => other - one);
  return spansOf(newest, DAYS_FOUND).map((span) => [
    span,
    newest.filter((day) => day >= span.first && day <= span.last).flatMap((day) => days.get(day)!),
  ]);
}
