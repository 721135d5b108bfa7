import { Injectable } from '@nestjs/common';
import { AuditTrail, isUuid, NotFoundError, RateLimitedError, Transactions } from '#libs/kernel';
import { SubscriptionInactiveError } from './deliveries.service.js';
import {
  type Replay,
  ReplayFinishedError,
  ReplayLimitError,
  type ReplayRange,
  STARTED,
} from './replay.js';
import { ReplayStore } from './replay-store.js';
import { WebhooksService } from '../../subscriptions/domain/webhooks.service.js';

/** Replays a subscription's finished deliveries of a time range. */
@Injectable()
export class ReplaysService {
  constructor(
    private readonly store: ReplayStore,
    private readonly webhooks: WebhooksService,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
  ) {}

  /**
   * How many deliveries a replay would send.
   * @throws NotFoundError, SubscriptionInactiveError
   */
  async count(accountId: string, webhookId: string, range: ReplayRange): Promise<number> {
    return this.store.count(accountId, await this.active(accountId, webhookId), range);
  }

  /**
   * @returns the replay's id
   * @throws NotFoundError, SubscriptionInactiveError, ReplayLimitError, RateLimitedError
   */
  async start(accountId: string, webhookId: string, range: ReplayRange): Promise<string> {
    return this.transactions.run(async () => {
      const active = await this.active(accountId, webhookId);
      const waitMs = await this.store.msUntilFewer(active, STARTED);
      if (waitMs > 0) {
        const message = `A webhook subscription is replayed at most ${STARTED.times} times in an hour.`;
        throw new RateLimitedError(message, waitMs);
      }
      const id = await this.store.start(accountId, active, range);
      if (id === undefined) {
        await this.active(accountId, webhookId);
        throw new ReplayLimitError();
      }
      await this.audit.record({ action: 'replay.create', resourceId: id, accountId });
      return id;
    });
  }

  /** Also works after the subscription was deleted. @throws NotFoundError */
  async show(accountId: string, id: string): Promise<Replay> {
    const replay = isUuid(id) ? await this.store.find(id, accountId) : undefined;
    if (!replay) throw new NotFoundError('replay');
    return replay;
  }

  /**
   * Restarts no more deliveries. Those already restarted continue.
   * @throws NotFoundError, ReplayFinishedError if all were restarted
   */
  async cancel(accountId: string, id: string): Promise<void> {
    await this.transactions.run(async () => {
      await this.show(accountId, id);
      if (await this.store.cancel(id)) {
        await this.audit.record({ action: 'replay.cancel', resourceId: id, accountId });
        return;
      }
      const { state } = await this.show(accountId, id);
      if (state === 'completed') throw new ReplayFinishedError();
    });
  }

  /** @returns the subscription's id @throws SubscriptionInactiveError if it is off */
  private async active(accountId: string, webhookId: string): Promise<string> {
    const { id, enabled } = await this.webhooks.get(accountId, webhookId);
    if (!enabled) throw new SubscriptionInactiveError();
    return id;
  }
}
