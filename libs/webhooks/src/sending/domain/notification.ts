import { jsonText, RawJson } from '#libs/kernel';
import { signatureOf } from '../../subscriptions/domain/signing-key.js';

/** The content of a notification's body. `data` and `payload` are JSON text. */
export interface Notification {
  id: string;
  name?: string;
  event: string;
  resource: string;
  accountId: string;
  applicationId?: string;
  occurredAt: Date;
  test: boolean;
  data: string;
  payload?: string;
}

/** The body of a notification. `data` and `payload` are copied byte for byte as they were received. */
export function notificationBody(notification: Notification): string {
  const { id, name, event, resource, accountId, applicationId, occurredAt, payload } = notification;
  return jsonText({
    id,
    name,
    event,
    resource,
    accountId,
    applicationId,
    timestamp: occurredAt.toISOString(),
    test: notification.test || undefined,
    data: new RawJson(notification.data),
    payload: payload === undefined ? undefined : new RawJson(payload),
  });
}

/**
 * The headers of Standard Webhooks 1.0.0: one signature per secret, newest secret first.
 * @param secrets the secrets of {@link SigningKey}s
 */
export function signatureHeaders(
  id: string,
  at: Date,
  body: string,
  secrets: readonly string[],
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map((secret) => signatureOf(`${id}.${timestamp}.${body}`, secret));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
