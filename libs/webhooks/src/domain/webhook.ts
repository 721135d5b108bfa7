import type { EventKind } from './event-kinds.js';
import type { RetryPolicy } from './retry-policy.js';
import { shownTargetUrl } from './target-url.js';

/** What a client says of a subscription (specification, section 2.2). */
export interface WebhookContent {
  /** A label for people; it goes into the notifications, too. */
  name: string | null;
  event: EventKind;
  /** As `parseResources` gives it. */
  resource: string;
  targetUrl: string;
  /** JSON text of an object, as it was sent. */
  payload: string | null;
  enabled: boolean;
  /** In place of the configured retry schedule and time-out. */
  retry: RetryPolicy | null;
}

type OrUndefined<Type> = { [Key in keyof Type]?: Type[Key] | undefined };

/** What an update says. What is undefined stays; null clears. */
export type WebhookChanges = OrUndefined<WebhookContent & Pick<Webhook, 'paused'>>;

/** Why the service switched a subscription off: its target answered 410, or failed for days. */
export type DisabledReason = 'gone' | 'failing';

/** How the target of a subscription does. */
export type TargetHealth =
  | { state: 'ok' }
  /** Every attempt since then has failed. */
  | { state: 'failing'; since: Date }
  /** Nothing is sent until then; at `disablesAt` it is switched off, should it fail till then. */
  | { state: 'open'; since: Date; until: Date; disablesAt: Date };

/** A subscription that has only failed for so long is switched off, in ms. */
export const FAILING_MS = 5 * 24 * 3_600_000;

/** A secret that was replaced. `until` is a time as PostgreSQL writes it. */
export interface RetiredSecret {
  secret: string;
  until: string;
}

/** A subscription of an account, or of one of its applications, to a kind of events. */
export class Webhook implements WebhookContent {
  /** A string of digits; set when it is stored. */
  id!: string;
  accountId!: string;
  /** Null at account level. */
  applicationId!: string | null;
  name!: string | null;
  event!: EventKind;
  resource!: string;
  targetUrl!: string;
  payload!: string | null;
  enabled!: boolean;
  /** Set when the service, not the customer, switched it off. */
  disabledReason!: DisabledReason | null;
  disabledAt!: Date | null;
  secret!: string;
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
  /** When the circuit last closed. */
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
    // Not before a probe fails.
    const disablesAt = new Date(Math.max(since.getTime() + FAILING_MS, until.getTime()));
    return { state: 'open', since, until, disablesAt };
  }

  /** Whether the text means the present target: itself, or itself as it is shown. */
  hasTarget(url: string): boolean {
    return url === this.targetUrl || url === shownTargetUrl(this.targetUrl);
  }

  /** The fields that the changes would give another value, with what follows; may be empty. */
  revisedBy(changes: WebhookChanges): WebhookRevision {
    const { targetUrl } = changes;
    const given = {
      ...changes,
      targetUrl: targetUrl !== undefined && this.hasTarget(targetUrl) ? undefined : targetUrl,
    };
    const revision: WebhookRevision = Object.fromEntries(
      Object.entries(given).filter(
        ([field, value]) =>
          value !== undefined && !isSame(value, this[field as keyof WebhookChanges]),
      ),
    );
    return { ...revision, ...this.consequencesOf(revision) };
  }

  private consequencesOf({ enabled, targetUrl, paused }: WebhookRevision): WebhookRevision {
    return {
      // What is accepted after it was resumed must not overtake what waited.
      ...(paused === true && { backlog: true }),
      // The time of the pause is none in which it failed.
      ...(paused === false && HEALTHY),
      ...(enabled === false && { generation: this.generation + 1, cancelling: true }),
      ...(enabled === true && { disabledReason: null, disabledAt: null, ...HEALTHY }),
      // It was the old target that failed, or asked.
      ...(targetUrl !== undefined && { holdUntil: null, ...HEALTHY }),
    };
  }
}

/** A policy is an object of its own each time. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** The health of a target that was not called yet. */
export const HEALTHY = {
  failures: 0,
  failingSince: null,
  openUntil: null,
  openings: 0,
  closedAt: null,
} satisfies WebhookRevision;

/** Columns of a subscription that get new values. */
export type WebhookRevision = Partial<
  Pick<
    Webhook,
    | keyof WebhookChanges
    | 'backlog'
    | 'generation'
    | 'cancelling'
    | 'disabledReason'
    | 'disabledAt'
    | 'holdUntil'
    | 'failures'
    | 'failingSince'
    | 'openUntil'
    | 'openings'
    | 'closedAt'
  >
>;
