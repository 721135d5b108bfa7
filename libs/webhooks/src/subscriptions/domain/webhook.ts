import { isOperator, OPERATORS, type Role } from '#libs/identity/domain';
import { DomainError, type Problem, refuse, type Sealed } from '#libs/kernel';
import {
  type ALL_ACCOUNTS,
  type EventKind,
  isNoticeKind,
  NOTICE_KINDS,
} from '../../event-kinds/domain/event-kinds.js';
import type { Filter } from '../../event-kinds/domain/filter.js';
import type { RetryPolicy } from './retry-policy.js';
import type { Signature } from './signing-key.js';
import {
  type DisabledReason,
  disablesAt,
  type NEXT,
  type NOW,
  PAUSED,
  resumed,
  RETARGETED,
  SWITCHED_ON,
  switchedOff,
  UNPACED,
} from './subscription-life.js';
import type { SealedTarget, WebhookSecrets } from './webhook-secrets.js';

/** The fields that a client need not set. */
export const DEFAULTS = {
  name: null,
  filter: null,
  payload: null,
  enabled: true,
  retry: null,
  headers: null,
  signature: 'hmac-sha256',
  maxPerSecond: null,
  maxConcurrent: null,
  ordered: false,
  accounts: null,
} satisfies Partial<Webhook>;

/** The fields that a client sets (specification, section 2.2). The URL includes its user information. */
export type WebhookContent = Pick<
  Webhook,
  'event' | 'resource' | 'targetUrl' | Exclude<keyof typeof DEFAULTS, 'headers'>
> & { headers: Record<string, string> | null };

/** What a client sends for a new subscription; what is absent has its default. */
export type GivenWebhook = Partial<WebhookContent> &
  Pick<WebhookContent, 'event' | 'resource' | 'targetUrl'>;

/** The changes of an update: what is absent stays, and null clears a value. */
export type WebhookChanges = Partial<WebhookContent & Pick<Webhook, 'paused'>>;

/** Notifications of the last 24 hours that were exhausted, or that the service cancelled. */
export interface RecentLosses {
  lost: number;
  lastLostAt: Date;
}

/** The health of a subscription's target. */
export type TargetHealth =
  | { state: 'ok' }
  /** It has lost notifications. With `since`, every attempt since then has failed. */
  | { state: 'losing'; since?: Date }
  /** Every attempt since `since` has failed. */
  | { state: 'failing'; since: Date }
  /** Nothing is sent until `until`. If failures continue, the subscription is disabled at `disablesAt`. */
  | { state: 'open'; since: Date; until: Date; disablesAt: Date };

/** The pace that holds deliveries back now, if any does, and when the next may be sent, if only time decides. */
export interface PaceNow {
  pacedBy?: 'maxPerSecond' | 'maxConcurrent' | 'ordered';
  pacedUntil?: Date;
}

/** A replaced secret that still signs until `until`, a time as PostgreSQL writes it. */
export interface RetiredSecret {
  secret: Sealed;
  until: string;
}

/** A subscription to one event kind, for an account or one of its applications. */
export class Webhook implements SealedTarget {
  /** A string of digits, set when the row is inserted. */
  id!: string;
  accountId!: string;
  /** Null at account level. */
  applicationId!: string | null;
  /** A label for people, also sent in notifications. */
  name!: string | null;
  event!: EventKind;
  /** As `parseResources` returns it. */
  resource!: string;
  /** Which of these events it is for; null for all. */
  filter!: Filter | null;
  /** By which statements know whether a verdict is about the present filter. */
  filterId!: string | null;
  targetUrl!: string;
  userinfo!: Sealed | null;
  /** Raised with each new target: the health of one does not apply to the next. */
  targetVersion!: number;
  /** Values by name, sent with every notification. */
  headers!: Record<string, Sealed> | null;
  /** JSON text of an object, exactly as it was sent. */
  payload!: string | null;
  enabled!: boolean;
  /** Set when the service, not the customer, disabled it. */
  disabledReason!: DisabledReason | null;
  disabledAt!: Date | null;
  /** Signs notifications; the secret of a {@link SigningKey}. */
  secret!: Sealed;
  publicKey!: string | null;
  /** Latest first. Each signs beside the current secret until it expires. */
  retiredSecrets!: RetiredSecret[];
  /** The target asked with `Retry-After` for no calls until then. */
  holdUntil!: Date | null;
  /** Its deliveries wait until the customer resumes it. */
  paused!: boolean;
  /** Overrides the configured retry schedule and timeout. */
  retry!: RetryPolicy | null;
  /** Failed attempts in a row, ten at most; the first of them was at `failingSince`. */
  failures!: number;
  failingSince!: Date | null;
  /** When the circuit opened; null while it is closed. */
  openedAt!: Date | null;
  /** The circuit is open until then. Afterwards, one delivery at a time is a probe. */
  openUntil!: Date | null;
  /** How often the circuit has opened since it was last closed. */
  openings!: number;
  /** Its deliveries wait in PostgreSQL instead of the queue. */
  backlog!: boolean;
  /** The pace, over all workers together; null for no limit. */
  maxPerSecond!: number | null;
  maxConcurrent!: number | null;
  /** Sends one delivery at a time, in the order of acceptance. */
  ordered!: boolean;
  /** Gets notices about the subscriptions of every account; null for those of its own account. */
  accounts!: typeof ALL_ACCOUNTS | null;
  /** Nothing is sent before. */
  pacedUntil!: Date | null;
  /** The ends of the leases of deliveries in flight; null unless the pace counts them. */
  inFlight!: Record<string, string> | null;
  /** Deliveries were due and exceeded the pace when a worker last looked. */
  paceWaits!: boolean;
  /** A delivery of an older generation counts as cancelled. */
  generation!: number;
  /** A worker may still have to mark rows of cancelled deliveries. */
  cancelling!: boolean;
  /** Raised whenever a client-writable field changes. */
  version!: number;
  createdAt!: Date;
  updatedAt!: Date;
  deletedAt!: Date | null;
  /** Not stored here; only where its health is shown. */
  losses?: RecentLosses | undefined;

  get health(): TargetHealth & Partial<RecentLosses> & PaceNow {
    const { failingSince: since, openUntil: until, losses } = this;
    if (since && until) {
      return { state: 'open', since, until, disablesAt: disablesAt(since, until), ...losses };
    }
    const lasting = since ? { since } : {};
    if (losses) return { state: 'losing', ...lasting, ...losses, ...this.paceNow };
    return { ...(since ? { state: 'failing', since } : { state: 'ok' }), ...this.paceNow };
  }

  private get paceNow(): PaceNow {
    const { pacedUntil, maxPerSecond, maxConcurrent, ordered } = this;
    const now = new Date();
    const isHeld = this.paused || (this.holdUntil !== null && this.holdUntil > now);
    if (isHeld) return {};
    // Until the retry of the first one, no worker looks at those behind it.
    if (!this.paceWaits) {
      return ordered && this.enabled && this.failingSince ? { pacedBy: 'ordered' } : {};
    }
    if (maxPerSecond !== null && pacedUntil && pacedUntil > now) {
      return { pacedBy: 'maxPerSecond', pacedUntil };
    }
    if (ordered) return { pacedBy: 'ordered' };
    if (maxConcurrent !== null) return { pacedBy: 'maxConcurrent' };
    return maxPerSecond === null ? {} : { pacedBy: 'maxPerSecond' };
  }

  private isPacedAfter({
    maxPerSecond = this.maxPerSecond,
    maxConcurrent = this.maxConcurrent,
    ordered = this.ordered,
  }: WebhookRevision = {}): boolean {
    return maxPerSecond !== null || maxConcurrent !== null || ordered;
  }

  get signature(): Signature {
    return this.publicKey === null ? 'hmac-sha256' : 'ed25519';
  }

  /** The columns whose values change, with the consequences; may be empty. */
  revisedBy(
    { targetUrl, headers, signature: _, ...others }: WebhookChanges,
    secrets: WebhookSecrets,
  ): WebhookRevision {
    const changed = Object.entries(others).filter(
      ([field, value]) => !isSame(value, this[field as keyof typeof others]),
    );
    const revision: WebhookRevision = {
      ...Object.fromEntries(changed),
      ...(targetUrl !== undefined &&
        !secrets.hasTarget(this, targetUrl) &&
        secrets.sealTarget(this.accountId, targetUrl)),
      ...(headers !== undefined &&
        !secrets.hasHeaders(this, headers) && { headers: secrets.sealHeaders(this, headers) }),
    };
    return { ...revision, ...this.consequencesOf(revision) };
  }

  private consequencesOf(revision: WebhookRevision): WebhookRevision {
    const { enabled, targetUrl, paused, filter } = revision;
    return {
      ...(filter !== undefined && { filterId: filter?.id ?? null }),
      ...(this.isPacedAfter() && !this.isPacedAfter(revision) && UNPACED),
      ...(paused === true && PAUSED),
      ...(paused === false && resumed(this)),
      ...(enabled === false && switchedOff(null)),
      ...(enabled === true && SWITCHED_ON),
      ...(targetUrl !== undefined && RETARGETED),
    };
  }
}

/** Compares objects by value: a policy is a new object each time. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** A signing key as it is stored. */
export type SealedKey = Pick<Webhook, 'secret' | 'publicKey'>;

/** The columns of a new subscription, except its key. */
export type NewWebhook = Omit<WebhookContent, 'headers' | 'signature'> &
  Pick<Webhook, 'filterId' | 'userinfo' | 'headers'>;

/** New column values of a subscription; only the database knows some of them. */
export type WebhookRevision = Partial<
  Pick<
    Webhook,
    keyof NewWebhook | 'paused' | 'backlog' | 'paceWaits' | 'cancelling' | 'disabledReason'
  > &
    Pick<Webhook, 'holdUntil' | 'failures' | 'openedAt' | 'openUntil' | 'openings'> &
    Record<'disabledAt' | 'failingSince', typeof NOW | null> &
    Record<'targetVersion' | 'generation', typeof NEXT>
>;

/** Limits of `maxPerSecond`. `maxConcurrent` is at least 1, and {@link PaceLimits} has its maximum. */
export const PER_SECOND = { min: 1, max: 1_000 };

/** What the operator allows a subscription. */
export abstract class PaceLimits {
  abstract readonly maxConcurrent: number;
}

/** What is wrong with a `maxConcurrent` beyond what the operator allows. @param max of the {@link PaceLimits} */
export function concurrencyProblem(value: number, max: number): Problem | undefined {
  if (value <= max) return undefined;
  return { code: 'not_allowed', says: `must be at most ${max}, the limit of this installation` };
}

/**
 * Refuses a subscription to notices of all accounts that is not an operator's, is to other events, or belongs to an
 * application: the notices of other accounts are about none of its own.
 * @param role of the subscription's account
 * @param blamed the field that does not go with the other
 * @throws ValidationError
 */
export function refuseNoticesOfAll(
  { event, accounts, applicationId }: Pick<Webhook, 'event' | 'accounts' | 'applicationId'>,
  role: Role,
  blamed: 'event' | 'accounts',
): void {
  if (accounts === null) return;
  if (!isOperator(role)) {
    const says = `is only for users with the role ${OPERATORS.join(' or ')}`;
    refuse('accounts', { code: 'not_allowed', says });
  }
  if (applicationId !== null) {
    refuse('accounts', { code: 'not_allowed', says: 'is only for subscriptions at account level' });
  }
  if (!isNoticeKind(event)) {
    const says = `conflicts: only a subscription to ${NOTICE_KINDS.join(', ')} can have accounts`;
    refuse(blamed, { code: 'conflict', says });
  }
}

/** Limit at account level, and for each application (specification, section 8). */
export const MAX_WEBHOOKS = 10;

/** The account or the application has reached its limit of subscriptions. */
export class WebhookLimitReachedError extends DomainError {
  constructor(level: 'account' | 'application') {
    super(
      'forbidden',
      'webhook_limit_reached',
      level === 'account'
        ? `The account has ${MAX_WEBHOOKS} account-level webhook subscriptions, which is the limit.`
        : `The application has ${MAX_WEBHOOKS} webhook subscriptions, which is the limit.`,
    );
  }
}
