import type { Sealed } from '#libs/kernel';
import type { EventKind } from './event-kinds.js';
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
} from './subscription-life.js';
import type { SealedTarget, WebhookSecrets } from './webhook-secrets.js';

/** What a client says of a subscription (specification, section 2.2). */
export interface WebhookContent {
  /** A label for people; it goes into the notifications, too. */
  name: string | null;
  event: EventKind;
  /** As `parseResources` gives it. */
  resource: string;
  /** With its user information. */
  targetUrl: string;
  /** JSON text of an object, as it was sent. */
  payload: string | null;
  enabled: boolean;
  /** In place of the configured retry schedule and time-out. */
  retry: RetryPolicy | null;
  /** Values by name, sent with every notification. */
  headers: Record<string, string> | null;
  signature: Signature;
}

type OrUndefined<Type> = { [Key in keyof Type]?: Type[Key] | undefined };

/** What an update says. What is undefined stays; null clears. */
export type WebhookChanges = OrUndefined<WebhookContent & Pick<Webhook, 'paused'>>;

export { FAILING_MS } from './subscription-life.js';

/** How the target of a subscription does. */
export type TargetHealth =
  | { state: 'ok' }
  /** Every attempt since then has failed. */
  | { state: 'failing'; since: Date }
  /** Nothing is sent until then; at `disablesAt` it is switched off, should it fail till then. */
  | { state: 'open'; since: Date; until: Date; disablesAt: Date };

/** A secret that was replaced. `until` is a time as PostgreSQL writes it. */
export interface RetiredSecret {
  secret: Sealed;
  until: string;
}

/** A subscription of an account, or of one of its applications, to a kind of events. */
export class Webhook implements SealedTarget {
  /** A string of digits; set when it is stored. */
  id!: string;
  accountId!: string;
  /** Null at account level. */
  applicationId!: string | null;
  name!: string | null;
  event!: EventKind;
  resource!: string;
  targetUrl!: string;
  userinfo!: Sealed | null;
  /** Raised with each new target: what one did says nothing of the next. */
  targetVersion!: number;
  headers!: Record<string, Sealed> | null;
  payload!: string | null;
  enabled!: boolean;
  /** Set when the service, not the customer, switched it off. */
  disabledReason!: DisabledReason | null;
  disabledAt!: Date | null;
  /** What notifications are signed with: that of a {@link SigningKey}. */
  secret!: Sealed;
  publicKey!: string | null;
  /** They sign beside the secret until their time has come; the latest first. */
  retiredSecrets!: RetiredSecret[];
  /** The target asked to be left alone until then. */
  holdUntil!: Date | null;
  /** Its deliveries wait until the customer resumes it. */
  paused!: boolean;
  retry!: RetryPolicy | null;
  /** Failed attempts in a row, as far as it matters how many; the first of them at `failingSince`. */
  failures!: number;
  failingSince!: Date | null;
  /** The circuit is open; from then on, one delivery at a time finds out whether it may close. */
  openUntil!: Date | null;
  /** How often it opened since it was last closed. */
  openings!: number;
  /** When the circuit last closed; only the version before reads and writes it. */
  closedAt!: Date | null;
  /** Its deliveries wait in PostgreSQL; the queue's business. */
  backlog!: boolean;
  /** A delivery that was made under an older generation counts as cancelled. */
  generation!: number;
  /** Rows of cancelled deliveries may still have to say so; the worker's business. */
  cancelling!: boolean;
  /** Raised whenever a field that a client can write changes. */
  version!: number;
  createdAt!: Date;
  updatedAt!: Date;
  deletedAt!: Date | null;

  get health(): TargetHealth {
    const { failingSince: since, openUntil: until } = this;
    if (!since) return { state: 'ok' };
    if (!until) return { state: 'failing', since };
    return { state: 'open', since, until, disablesAt: disablesAt(since, until) };
  }

  get signature(): Signature {
    return this.publicKey === null ? 'hmac-sha256' : 'ed25519';
  }

  /** The columns that the changes give another value, with what follows; may be empty. */
  revisedBy(
    { targetUrl, headers, signature: _, ...others }: WebhookChanges,
    secrets: WebhookSecrets,
  ): WebhookRevision {
    const changed = Object.entries(others).filter(
      ([field, value]) => value !== undefined && !isSame(value, this[field as keyof typeof others]),
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

  private consequencesOf({ enabled, targetUrl, paused }: WebhookRevision): WebhookRevision {
    return {
      ...(paused === true && PAUSED),
      ...(paused === false && resumed(this)),
      ...(enabled === false && switchedOff(null)),
      ...(enabled === true && SWITCHED_ON),
      ...(targetUrl !== undefined && RETARGETED),
    };
  }
}

/** A policy is an object of its own each time. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** What notifications are signed with, as it is stored. */
export type SealedKey = Pick<Webhook, 'secret' | 'publicKey'>;

/** What is stored of a subscription when it is made, but for its key. */
export type NewWebhook = Pick<
  Webhook,
  | 'name'
  | 'event'
  | 'resource'
  | 'targetUrl'
  | 'userinfo'
  | 'payload'
  | 'enabled'
  | 'retry'
  | 'headers'
>;

/** Columns of a subscription that get new values; some only the database can tell. */
export type WebhookRevision = Partial<
  Pick<Webhook, keyof NewWebhook | 'paused' | 'backlog' | 'cancelling' | 'disabledReason'> &
    Pick<Webhook, 'holdUntil' | 'failures' | 'openUntil' | 'openings'> &
    Record<'disabledAt' | 'failingSince', typeof NOW | null> &
    Record<'targetVersion' | 'generation', typeof NEXT>
>;
