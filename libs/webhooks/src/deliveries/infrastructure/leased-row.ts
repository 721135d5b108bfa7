import type { Sealed } from '#libs/kernel';
import type { LeasedDelivery, OpenTarget } from '../domain/pending-deliveries.js';
import type { RetryPolicy } from '../../subscriptions/domain/retry-policy.js';
import type { KnownHealth } from '../domain/target-verdicts.js';
import type { WebhookSecrets } from '../../subscriptions/domain/webhook-secrets.js';
import { type HealthColumn, knownHealth } from './target-verdict.statements.js';

/** A row of a statement that leases deliveries. */
export interface LeasedRow {
  id: string;
  webhook_id: string;
  attempt: number;
  lease: number;
  lease_ms: number;
  schedule_base: number;
  immediate: boolean;
  replayed: boolean;
  created_at: Date;
  leased_at: Date;
  account_id: string;
  application_id: string | null;
  event: string;
  resource: string;
  occurred_at: Date;
  test: boolean;
  traceparent: string | null;
  data: string;
  backlog: boolean;
  name: string | null;
  target_url: string;
  userinfo: Sealed | null;
  target_version: number;
  headers: Record<string, Sealed> | null;
  payload: string | null;
  retry: RetryPolicy | null;
  secret: Sealed;
  health: HealthColumn;
  /** Whether it is the probe of a half-open circuit. */
  is_probe?: boolean;
  retired_secrets: Sealed[] | null;
}

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
    leaseEnds: askedAt + row.lease_ms,
    scheduleBase: row.schedule_base,
    immediate: row.immediate,
    replayed: row.replayed,
    createdAt: row.created_at,
    takenAt: row.leased_at,
    event: {
      accountId: row.account_id,
      ...(row.application_id !== null && { applicationId: row.application_id }),
      event: row.event,
      resource: row.resource,
      occurredAt: row.occurred_at,
      test: row.test,
      ...(row.traceparent !== null && { traceparent: row.traceparent }),
      data: row.data,
    },
    webhookId: row.webhook_id,
    subscription: {
      ...(row.name !== null && { name: row.name }),
      targetVersion: row.target_version,
      health: healthOf(row, askedAt),
      backlog: row.backlog,
      openTarget: () => openTarget(row, secrets),
      ...(row.payload !== null && { payload: row.payload }),
      ...(row.retry !== null && { retry: row.retry }),
    },
  };
}

/** A probe's circuit counts as half-open, although the row shows it open to hold off other probes. */
function healthOf({ health, is_probe: isProbe }: LeasedRow, readAt: number): KnownHealth {
  const known = knownHealth(health, readAt);
  return isProbe === true ? { ...known, openMs: 0 } : known;
}

function openTarget(row: LeasedRow, secrets: WebhookSecrets): OpenTarget {
  const { account_id: accountId, userinfo, headers } = row;
  const target = { accountId, targetUrl: row.target_url, userinfo, headers };
  return {
    url: secrets.targetUrl(target),
    headers: secrets.headers(target),
    secrets: [row.secret, ...(row.retired_secrets ?? [])].map((sealed) =>
      secrets.open(accountId, 'secret', sealed),
    ),
  };
}
