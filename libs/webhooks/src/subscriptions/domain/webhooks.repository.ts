import type { Page, Scope, Sealed } from '#libs/kernel';
import type { NewWebhook, SealedKey, Webhook, WebhookRevision } from './webhook.js';

/** The owner of a subscription: the application if given, else the account. */
export interface WebhookLevel {
  accountId: string;
  applicationId?: string | undefined;
}

/** Identifies a subscription of an account. With an application, it must belong to that application. */
export interface WebhookKey extends WebhookLevel {
  id: string;
}

/** Which subscriptions of an account a list shows. */
export interface WebhookFilter {
  accountId: string;
  /** One application's subscriptions, the account-level ones, or all. */
  scope: { applicationId: string } | 'account' | 'all';
  event?: string | undefined;
  /** `all` finds subscriptions to `all`; a resource finds those that cover it. */
  resource?: string | undefined;
  enabled?: boolean | undefined;
}

/** Stores subscriptions. No method finds deleted ones. */
export abstract class WebhooksRepository {
  /**
   * @param key without an account, of any account
   * @param options `lock`: locks the row until the transaction ends
   */
  abstract find(
    key: Omit<WebhookKey, 'accountId'> & { accountId: Scope },
    options?: { lock: boolean },
  ): Promise<Webhook | undefined>;

  /** In ascending order of id. */
  abstract list(filter: WebhookFilter, page: Page): Promise<Webhook[]>;

  /**
   * How many subscriptions a level has. At account level, this locks the account until the transaction
   * ends, so that the number stays valid; at application level, the caller must lock the application.
   */
  abstract count(level: WebhookLevel): Promise<number>;

  /** @returns the new id */
  abstract add(level: WebhookLevel, webhook: NewWebhook & SealedKey): Promise<string>;

  /** Stores new values and raises the version. */
  abstract revise(id: string, revision: WebhookRevision): Promise<void>;

  /**
   * Replaces the key. The old key keeps signing for `overlapHours`, and keys retired earlier keep
   * signing until they expire. Keys in `except` stop at once.
   */
  abstract replaceKey(
    id: string,
    key: SealedKey,
    retired: { overlapHours: number; except: readonly Sealed[] },
  ): Promise<void>;

  /**
   * Removes a subscription, or all of an application. Their deliveries count as cancelled.
   * @returns the removed subscriptions
   */
  abstract remove(
    which: { id: string } | { applicationId: string },
  ): Promise<Pick<Webhook, 'id' | 'accountId'>[]>;
}
