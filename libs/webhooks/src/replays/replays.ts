import { Injectable } from '@nestjs/common';
import {
  AuditTrail,
  type FieldFault,
  isUuid,
  NotFoundError,
  RateLimitedError,
  ValidationError,
} from '#libs/kernel';
import { TypeOrmTransactions, withoutNulls } from '#libs/runtime';
import { SubscriptionInactiveError } from '../deliveries/domain/deliveries.service.js';
import { addOutlook, outlookOf, type SendOutlook } from '../subscriptions/domain/send-outlook.js';
import { WebhooksService } from '../subscriptions/domain/webhooks.service.js';
import {
  type Replay,
  type ReplayCount,
  ReplayFinishedError,
  type ReplayFilter,
  ReplayLimitError,
  STARTED,
  sumOf,
} from './domain/replay.js';
import { ReplayCounter } from './infrastructure/replay-counter.js';
import { readOutlook } from './infrastructure/replay-outlook.js';
import {
  CANCEL_REPLAY,
  EARLIER_REPLAY,
  FIND_REPLAY,
  IS_HOLDING,
  OWNS_APPLICATION,
  START_REPLAY,
} from './infrastructure/replay.statements.js';

/** Replays the deliveries of a subscription or of a whole account. Workers carry it out. */
@Injectable()
export class Replays {
  private readonly counter: ReplayCounter;

  constructor(
    private readonly transactions: TypeOrmTransactions,
    private readonly webhooks: WebhooksService,
    private readonly audit: AuditTrail,
  ) {
    this.counter = new ReplayCounter(transactions);
  }

  /**
   * How many deliveries a replay would send, without tests.
   * @param isBody whether a body names the subscription and the application, and not the path
   * @throws NotFoundError, or ValidationError for a body; SubscriptionInactiveError
   */
  async count(accountId: string, filter: ReplayFilter, isBody = false): Promise<ReplayCount> {
    if (isBody) await this.requireKnown(accountId, filter);
    await this.requireActive(accountId, filter);
    const { deliveries, leftOutFor, subscriptions } = await this.counter.count(accountId, filter);
    const [hold] = await this.transactions.query(IS_HOLDING);
    const outlook: SendOutlook = { now: 0, waiting: {} };
    for (const subscription of subscriptions) {
      const isHolding = hold?.isHolding === true;
      addOutlook(outlook, outlookOf(subscription.deliveries, subscription, isHolding));
    }
    return { deliveries, ...outlook, leftOut: sumOf(leftOutFor), leftOutFor };
  }

  /**
   * Starts a replay of what {@link count} counts as `deliveries`. One of an account that has none is completed at once.
   * @returns the replay's id
   * @throws like {@link count}; ReplayLimitError, RateLimitedError
   */
  async start(accountId: string, filter: ReplayFilter, isBody = false): Promise<string> {
    if (isBody) await this.requireKnown(accountId, filter);
    return this.transactions.run(async () => {
      await this.requireActive(accountId, filter);
      await this.requireFewer(accountId, filter);
      const id = await this.store(accountId, filter);
      if (id === undefined) {
        await this.requireActive(accountId, filter);
        throw new ReplayLimitError(filter);
      }
      await this.audit.record({ action: 'replay.create', resourceId: id, accountId });
      return id;
    });
  }

  /** @returns undefined if the subscription was disabled meanwhile, or too many such replays are running */
  private async store(accountId: string, filter: ReplayFilter): Promise<string | undefined> {
    const counted = await this.counter.count(accountId, filter);
    const { until, after, deliveries, subscriptions, leftOutFor } = counted;
    const { off = 0, deleted = 0, test = 0, erased = 0 } = leftOutFor;
    const { webhookId, since, states, missed = false, event, applicationId, status } = filter;
    if (webhookId !== undefined && subscriptions.length === 0) return undefined;
    const [started] = await this.transactions.query(START_REPLAY, {
      ...{ accountId, webhookId, states, missed, event, applicationId, status, after },
      ...{ since: since.toISOString(), until: until.toISOString(), total: deliveries },
      ...{ off, deleted, tests: test, erased },
      webhookIds: subscriptions.map(({ id }) => id),
      generations: subscriptions.map(({ generation }) => generation),
      counts: subscriptions.map((subscription) => subscription.deliveries),
    });
    return started?.id;
  }

  /** Also works after the subscription was deleted. @throws NotFoundError */
  async show(accountId: string, id: string): Promise<Replay> {
    const [row] = isUuid(id) ? await this.transactions.query(FIND_REPLAY, { id, accountId }) : [];
    if (!row) throw new NotFoundError('replay');
    return withoutNulls<Replay>(row);
  }

  /**
   * Like {@link show}, with what becomes of its deliveries that have not ended; looks at a limited number of them.
   * @throws NotFoundError
   */
  async showProgress(accountId: string, id: string): Promise<Replay & SendOutlook> {
    const replay = await this.show(accountId, id);
    return { ...replay, ...(await readOutlook(this.transactions.peek, accountId, replay)) };
  }

  /**
   * Restarts no more deliveries. Those already restarted continue.
   * @throws NotFoundError, ReplayFinishedError if all were restarted
   */
  async cancel(accountId: string, id: string): Promise<void> {
    await this.transactions.run(async () => {
      await this.show(accountId, id);
      if ((await this.transactions.query(CANCEL_REPLAY, { id })).length > 0) {
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

  /** Fewer replays in the last hour, of the subscription, or of the account and no single subscription. */
  private async requireFewer(accountId: string, { webhookId }: ReplayFilter): Promise<void> {
    const { times, withinMs } = STARTED;
    const values = { accountId, webhookId, times, withinMs };
    const [oldest] = await this.transactions.query(EARLIER_REPLAY, values);
    if (!oldest) return;
    const message =
      webhookId === undefined
        ? `At most ${times} replays of all subscriptions can be started in an hour.`
        : `A webhook subscription is replayed at most ${times} times in an hour.`;
    throw new RateLimitedError(message, Math.max(withinMs - oldest.agoMs, 1));
  }

  private async requireKnown(
    accountId: string,
    { webhookId, applicationId }: ReplayFilter,
  ): Promise<void> {
    const faults: FieldFault[] = [];
    if (webhookId !== undefined && !(await this.webhooks.lookUp(accountId, webhookId))) {
      faults.push(unknown('webhookId', 'webhook subscription'));
    }
    if (applicationId !== undefined) {
      const values = { accountId, applicationId };
      const isOwn = (await this.transactions.query(OWNS_APPLICATION, values)).length > 0;
      if (!isOwn) faults.push(unknown('applicationId', 'application'));
    }
    if (faults.length > 0) throw new ValidationError(faults);
  }
}

function unknown(field: string, what: string): FieldFault {
  return { field, code: 'unknown_reference', message: `${field} names no ${what}.` };
}
