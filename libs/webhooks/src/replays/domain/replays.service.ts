import { Injectable } from '@nestjs/common';
import {
  AuditTrail,
  type FieldFault,
  isUuid,
  NotFoundError,
  RateLimitedError,
  Transactions,
  ValidationError,
} from '#libs/kernel';
import { SubscriptionInactiveError } from '../../deliveries/domain/deliveries.service.js';
import {
  type Replay,
  type ReplayCount,
  ReplayFinishedError,
  type ReplayFilter,
  ReplayLimitError,
  ReplayStore,
  STARTED,
} from './replay.js';
import type { SendOutlook } from '../../subscriptions/domain/send-outlook.js';
import { WebhooksService } from '../../subscriptions/domain/webhooks.service.js';

/** Replays the deliveries of a subscription or of a whole account. */
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
   * @param isBody whether a body names the subscription and the application, and not the path
   * @throws NotFoundError, or ValidationError for a body; SubscriptionInactiveError
   */
  async count(accountId: string, filter: ReplayFilter, isBody = false): Promise<ReplayCount> {
    if (isBody) await this.requireKnown(accountId, filter);
    await this.requireActive(accountId, filter);
    return this.store.count(accountId, filter);
  }

  /**
   * Like {@link count}.
   * @returns the replay's id
   * @throws also ReplayLimitError, RateLimitedError
   */
  async start(accountId: string, filter: ReplayFilter, isBody = false): Promise<string> {
    if (isBody) await this.requireKnown(accountId, filter);
    return this.transactions.run(async () => {
      await this.requireActive(accountId, filter);
      const { webhookId } = filter;
      const waitMs = await this.store.msUntilFewer({ accountId, webhookId }, STARTED);
      if (waitMs > 0) {
        const message =
          webhookId === undefined
            ? `At most ${STARTED.times} replays of all subscriptions can be started in an hour.`
            : `A webhook subscription is replayed at most ${STARTED.times} times in an hour.`;
        throw new RateLimitedError(message, waitMs);
      }
      const id = await this.store.start(accountId, filter);
      if (id === undefined) {
        await this.requireActive(accountId, filter);
        throw new ReplayLimitError(filter);
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

  /** Like {@link show}, with what becomes of its deliveries that have not ended. @throws NotFoundError */
  async showProgress(accountId: string, id: string): Promise<Replay & SendOutlook> {
    const replay = await this.show(accountId, id);
    return { ...replay, ...(await this.store.outlook(accountId, replay)) };
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

  private async requireActive(accountId: string, { webhookId }: ReplayFilter): Promise<void> {
    if (webhookId === undefined) return;
    const { enabled } = await this.webhooks.get(accountId, webhookId);
    if (!enabled) throw new SubscriptionInactiveError();
  }

  private async requireKnown(
    accountId: string,
    { webhookId, applicationId }: ReplayFilter,
  ): Promise<void> {
    const faults: FieldFault[] = [];
    if (webhookId !== undefined && !(await this.webhooks.lookUp(accountId, webhookId))) {
      faults.push(unknown('webhookId', 'webhook subscription'));
    }
    if (
      applicationId !== undefined &&
      !(await this.store.ownsApplication(accountId, applicationId))
    ) {
      faults.push(unknown('applicationId', 'application'));
    }
    if (faults.length > 0) throw new ValidationError(faults);
  }
}

function unknown(field: string, what: string): FieldFault {
  return { field, code: 'unknown_reference', message: `${field} names no ${what}.` };
}
