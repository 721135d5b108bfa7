import type { Page, Sealed } from '#libs/kernel';
import type { EventKind, Resource } from './event-kinds.js';
import type { NewWebhook, SealedKey, Webhook, WebhookRevision } from './webhook.js';

/** Names one subscription of an account; with an application, only one of that application. */
export interface WebhookKey {
  accountId: string;
  id: string;
  applicationId?: string | undefined;
}

/** Where a subscription belongs: to the application, or else to the account. */
export interface WebhookLevel {
  accountId: string;
  applicationId?: string | undefined;
}

/** Which subscriptions of an account a list shows. */
export interface WebhookFilter {
  accountId: string;
  /** Those of one application, those at account level, or all. */
  scope: { applicationId: string } | 'account' | 'all';
  event?: EventKind | undefined;
  /** `all` finds those to `all`; a resource those that cover it. */
  resource?: Resource | 'all' | undefined;
  enabled?: boolean | undefined;
}

/** Where subscriptions are kept. Deleted ones are found by none of these. */
export abstract class WebhooksRepository {
  /** @param hold keeps others from changing it until the transaction ends */
  abstract find(key: WebhookKey, options?: { hold: boolean }): Promise<Webhook | undefined>;

  /** In ascending order of id. */
  abstract list(filter: WebhookFilter, page: Page): Promise<Webhook[]>;

  /**
   * How many there are at a level. At account level nobody else is told until the transaction
   * ends, so that the number stays true; an application must be held by the caller.
   */
  abstract count(level: WebhookLevel): Promise<number>;

  /** @returns its id */
  abstract add(level: WebhookLevel, webhook: NewWebhook & SealedKey): Promise<string>;

  /** Stores new values and raises the version. */
  abstract revise(id: string, revision: WebhookRevision): Promise<void>;

  /**
   * Puts a new key in place of the present one, which goes on signing for `overlapHours`, as those
   * before it do until their time has come, except for some.
   */
  abstract replaceKey(
    id: string,
    key: SealedKey,
    retired: { overlapHours: number; except: readonly Sealed[] },
  ): Promise<void>;

  /**
   * Removes a subscription, or all of an application; their deliveries count as cancelled.
   * @returns those that it removed
   */
  abstract remove(
    which: { id: string } | { applicationId: string },
  ): Promise<Pick<Webhook, 'id' | 'accountId'>[]>;
}
