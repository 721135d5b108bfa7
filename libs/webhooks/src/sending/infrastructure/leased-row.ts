import type { Sealed } from '#libs/kernel';
import type { RowOf } from '#libs/runtime';
import type { LeasedDelivery, OpenTarget } from '../domain/pending-deliveries.js';
import type { KnownHealth } from '../domain/target-verdicts.js';
import type { Webhook } from '../../subscriptions/domain/webhook.js';
import type { SealedTarget, WebhookSecrets } from '../../subscriptions/domain/webhook-secrets.js';
import { type HealthColumn, knownHealth } from './target-verdict.statements.js';

/** A row of a statement that leases deliveries. */
export type LeasedRow = Omit<LeasedDelivery, 'leasedAt' | 'leaseEnds' | 'event' | 'subscription'> &
  RowOf<LeasedDelivery['event']> &
  Pick<Webhook, 'backlog' | 'name' | 'payload' | 'retry' | 'secret' | 'targetVersion'> &
  SealedTarget & {
    leaseMs: number;
    health: HealthColumn;
    retiredSecrets: Sealed[] | null;
    /** Whether it is the probe of a half-open circuit. */
    isProbe?: boolean;
  };

/** Its row for a delivery whose event was removed. */
export interface EventlessRow {
  id: string;
  event: null;
}

/**
 * A leased delivery. Its secrets are opened only when it is sent.
 * @param askedAt when the statement was sent, in ms of this process' monotonic clock
 */
export function leasedOf(row: LeasedRow, secrets: WebhookSecrets, askedAt: number): LeasedDelivery {
  return {
    id: row.id,
    attempt: row.attempt,
    lease: row.lease,
    leasedAt: askedAt,
    leaseEnds: askedAt + row.leaseMs,
    scheduleBase: row.scheduleBase,
    immediate: row.immediate,
    replayed: row.replayed,
    createdAt: row.createdAt,
    takenAt: row.takenAt,
    event: {
      accountId: row.accountId,
      ...(row.applicationId !== null && { applicationId: row.applicationId }),
      event: row.event,
      resource: row.resource,
      occurredAt: row.occurredAt,
      test: row.test,
      ...(row.traceparent !== null && { traceparent: row.traceparent }),
      data: row.data,
    },
    webhookId: row.webhookId,
    subscription: {
      ...(row.name !== null && { name: row.name }),
      targetVersion: row.targetVersion,
      health: healthOf(row, askedAt),
      backlog: row.backlog,
      openTarget: () => openTarget(row, secrets),
      ...(row.payload !== null && { payload: row.payload }),
      ...(row.retry !== null && { retry: row.retry }),
    },
  };
}

/** A probe's circuit counts as half-open, although the row shows it open to hold off other probes. */
function healthOf({ health, isProbe }: LeasedRow, readAt: number): KnownHealth {
  const known = knownHealth(health, readAt);
  return isProbe === true ? { ...known, openMs: 0 } : known;
}

function openTarget(row: LeasedRow, secrets: WebhookSecrets): OpenTarget {
  return {
    url: secrets.targetUrl(row),
    headers: secrets.headers(row),
    secrets: [row.secret, ...(row.retiredSecrets ?? [])].map((sealed) =>
      secrets.open(row.accountId, 'secret', sealed),
    ),
  };
}
