import { Injectable } from '@nestjs/common';
import { statement, TypeOrmTransactions } from '#libs/runtime';
import { type Attempt, type Delivery, DeliveryStore } from '../deliveries/domain/delivery.js';
import type { Webhook } from '../subscriptions/domain/webhook.js';
import { ATTEMPT_COLUMNS, attemptOf, type AttemptRow } from '../deliveries/attempts.statements.js';
import { daysAtOnce, inSpans, type Span, within } from '../partitions/partition-days.js';
import { RecentLossesReader } from '../subscriptions/recent-losses.js';
import { WebhooksService } from '../subscriptions/domain/webhooks.service.js';
import type { Entry } from './activity-log.js';

/** A change as it is shown: with its subject as it is now. */
export type ShownChange =
  | { kind: 'delivery'; delivery: Delivery }
  | { kind: 'attempt'; delivery: Delivery; attempt: Attempt }
  | { kind: 'webhook'; webhook: Webhook }
  | { kind: 'interrupted' };

/** How many days {@link findAttempts} may cover. */
const DAYS_FOUND = daysAtOnce('attempts');

/** Attempts of deliveries by their numbers, in pairs. */
export function findAttempts(span: Span) {
  return statement<{ deliveryIds: string[]; numbers: number[] }, AttemptRow>(`
  SELECT g.delivery_id AS "deliveryId", a.*
  FROM unnest(@deliveryIds::uuid[], @numbers::integer[]) g(delivery_id, number)
  CROSS JOIN LATERAL (
    SELECT ${ATTEMPT_COLUMNS} FROM attempts
    WHERE delivery_id = g.delivery_id AND ${within('delivery_id', span)} AND take >= g.number
      AND number = g.number
    ORDER BY take LIMIT 1
  ) a`);
}

/** Loads the subjects of changes from PostgreSQL, with one or two statements for a batch of entries. */
@Injectable()
export class ActivityReader {
  constructor(
    private readonly transactions: TypeOrmTransactions,
    private readonly deliveries: DeliveryStore,
    private readonly webhooks: WebhooksService,
    private readonly losses: RecentLossesReader,
  ) {}

  /** The shown changes of each entry, in order. Subjects that are gone, or belong to others, are left out. */
  async read(accountId: string, entries: readonly Entry[]): Promise<ShownChange[][]> {
    const deliveries = await this.deliveries.findAll(accountId, {
      ids: idsOf(entries, 'delivery', 'attempt'),
      eventIds: idsOf(entries, 'event'),
    });
    const attempts = await this.attemptsOf(entries);
    const webhooks = await this.webhooksOf(accountId, entries);
    const changes = entries.map(({ change }): ShownChange[] => {
      if (change === 'interrupted') return [{ kind: change }];
      const { kind, id } = change;
      if (kind === 'webhook') {
        const webhook = webhooks.get(id);
        return webhook ? [{ kind, webhook }] : [];
      }
      const about = deliveries.filter((one) => (kind === 'event' ? one.eventId : one.id) === id);
      return about.flatMap((delivery): ShownChange[] => {
        const attempt = kind === 'attempt' && attempts.get(attemptKey(change));
        const attempted: ShownChange[] = attempt ? [{ kind: 'attempt', delivery, attempt }] : [];
        return [...attempted, { kind: 'delivery', delivery }];
      });
    });
    return lastOfEach(changes);
  }

  private async attemptsOf(entries: readonly Entry[]): Promise<Map<string, Attempt>> {
    const wanted = entries.flatMap(({ change }) =>
      change !== 'interrupted' && change.kind === 'attempt' ? [change] : [],
    );
    const found = new Map<string, Attempt>();
    const all = wanted.map(({ id }) => id);
    for (const [span, ids] of inSpans(all, DAYS_FOUND)) {
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
      const webhook = await this.webhooks.lookUp(accountId, id);
      if (webhook) found.set(id, webhook);
    }
    await this.losses.addTo([...found.values()]);
    return found;
  }
}

function idsOf(entries: readonly Entry[], ...kinds: string[]): string[] {
  return entries.flatMap(({ change }) =>
    change !== 'interrupted' && kinds.includes(change.kind) ? [change.id] : [],
  );
}

/** Shows the subject of several entries once, with the last of them, because it is shown as it is now. */
function lastOfEach(changes: ShownChange[][]): ShownChange[][] {
  const shown = new Set<Delivery | Webhook>();
  const isLast = (subject: Delivery | Webhook) => !shown.has(subject) && shown.add(subject);
  return changes
    .toReversed()
    .map((ofEntry) =>
      ofEntry.filter((one) => {
        if (one.kind === 'delivery') return isLast(one.delivery);
        return one.kind !== 'webhook' || isLast(one.webhook);
      }),
    )
    .reverse();
}

function attemptKey({ id, number }: { id: string; number: number }): string {
  return `${id} ${number}`;
}
