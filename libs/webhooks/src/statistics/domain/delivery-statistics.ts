import { Injectable } from '@nestjs/common';
import {
  type AttemptHistory,
  AttemptHistoryStore,
  bucketsOf,
  historyOf,
  type HistoryRange,
  outcomeOf,
} from './attempt-history.js';
import type { Attempt } from '../../deliveries/domain/delivery.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';
import { WebhooksService } from '../../subscriptions/domain/webhooks.service.js';

/** Outcomes of a subscription's recent attempts, and its waiting deliveries. */
export interface DeliveryStatistics {
  /** How many attempts are counted: the newest, at most 1,000. */
  attempts: number;
  /** Attempts by outcome: `2xx` to `5xx`, or the error if there was no answer. */
  outcomes: Record<string, number>;
  /** Share of successful attempts, from 0 to 1; absent without attempts. */
  successRate?: number;
  /** Time until the answer's headers, in ms; absent without answers. */
  answerMs?: { p50: number; p95: number };
  waiting: Waiting;
}

/** Pending deliveries, and when the oldest was created. */
export interface Waiting {
  deliveries: number;
  since?: Date;
}

/** The parts of an attempt that statistics use. */
export type AttemptOutcome = Pick<Attempt, 'status' | 'error' | 'durationMs'>;

/** Sums up attempts. */
export function outcomesOf(
  attempts: readonly AttemptOutcome[],
): Omit<DeliveryStatistics, 'waiting'> {
  const counts = new Map<string, number>();
  for (const attempt of attempts) {
    const outcome = outcomeOf(attempt);
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  const answers = attempts.filter(({ status }) => status !== undefined);
  const durations = answers.map(({ durationMs }) => durationMs).sort((one, other) => one - other);
  const isSuccess = ({ status = 0 }: AttemptOutcome) => status >= 200 && status < 300;
  return {
    attempts: attempts.length,
    outcomes: Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1))),
    ...(attempts.length > 0 && { successRate: answers.filter(isSuccess).length / attempts.length }),
    ...(durations.length > 0 && {
      answerMs: { p50: percentile(durations, 0.5), p95: percentile(durations, 0.95) },
    }),
  };
}

/** Interpolates like PostgreSQL's percentile_cont(), to a tenth of a ms. @param sorted not empty */
function percentile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  const interpolated = below + (place - Math.floor(place)) * (above - below);
  return Math.round(interpolated * 10) / 10;
}

/** Reads the data for statistics. */
export abstract class DeliveryStatisticsStore {
  abstract of(webhook: Pick<Webhook, 'id' | 'createdAt'>): Promise<DeliveryStatistics>;
  /** The waiting deliveries of all subscriptions of an account. */
  abstract waitingOf(accountId: string): Promise<Waiting>;
}

/** Shows customers how the attempts of their subscriptions went. */
@Injectable()
export class DeliveryStatisticsService {
  constructor(
    private readonly webhooks: WebhooksService,
    private readonly store: DeliveryStatisticsStore,
    private readonly history: AttemptHistoryStore,
  ) {}

  /**
   * @param range if given, adds the history of that time range
   * @throws NotFoundError, ValidationError
   */
  async of(
    accountId: string,
    webhookId: string,
    range?: HistoryRange,
  ): Promise<DeliveryStatistics & { history?: AttemptHistory }> {
    const webhook = await this.webhooks.get(accountId, webhookId);
    const statistics = await this.store.of(webhook);
    if (!range) return statistics;
    return { ...statistics, history: await this.historyOf(accountId, webhook.id, range) };
  }

  /** Of all subscriptions of the account. @throws ValidationError */
  async ofAccount(
    accountId: string,
    range: HistoryRange,
  ): Promise<AttemptHistory & { waiting: Waiting }> {
    const history = await this.historyOf(accountId, undefined, range);
    return { ...history, waiting: await this.store.waitingOf(accountId) };
  }

  private async historyOf(
    accountId: string,
    webhookId: string | undefined,
    range: HistoryRange,
  ): Promise<AttemptHistory> {
    const buckets = bucketsOf(range);
    return historyOf(buckets, await this.history.counts(accountId, webhookId, buckets));
  }
}
