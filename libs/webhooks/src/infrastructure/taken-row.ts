import type { Sealed } from '#libs/kernel';
import type { OpenTarget, TakenDelivery } from '../domain/pending-deliveries.js';
import type { RetryPolicy } from '../domain/retry-policy.js';
import type { WebhookSecrets } from '../domain/webhook-secrets.js';

/** What taking a delivery returns. */
export interface TakenRow {
  id: string;
  webhook_id: string;
  attempt: number;
  take: number;
  schedule_base: number;
  immediate: boolean;
  replayed: boolean;
  created_at: Date;
  taken_at: Date;
  account_id: string;
  application_id: string | null;
  event: string;
  resource: string;
  occurred_at: Date;
  test: boolean;
  traceparent: string | null;
  data: string;
  name: string | null;
  target_url: string;
  userinfo: Sealed | null;
  target_version: number;
  headers: Record<string, Sealed> | null;
  payload: string | null;
  retry: RetryPolicy | null;
  secret: Sealed;
  retired_secrets: Sealed[] | null;
  cancelled: boolean;
  held: boolean;
  backlog: boolean;
  failing: boolean;
}

/** What it returns of a delivery whose event is gone. */
export interface EventlessRow {
  id: string;
  event: null;
}

/** A delivery that was taken; its secrets are opened when it is sent. */
export function takenOf(row: TakenRow, secrets: WebhookSecrets): TakenDelivery {
  return {
    id: row.id,
    attempt: row.attempt,
    take: row.take,
    scheduleBase: row.schedule_base,
    immediate: row.immediate,
    replayed: row.replayed,
    createdAt: row.created_at,
    takenAt: row.taken_at,
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
      openTarget: () => openTarget(row, secrets),
      ...(row.payload !== null && { payload: row.payload }),
      ...(row.retry !== null && { retry: row.retry }),
      cancelled: row.cancelled,
      held: row.held,
      backlog: row.backlog,
      failing: row.failing,
    },
  };
}

function openTarget(row: TakenRow, secrets: WebhookSecrets): OpenTarget {
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
