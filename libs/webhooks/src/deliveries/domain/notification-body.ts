import { jsonText, RawJson } from '#libs/kernel';

/** The content of a notification's body; null for what it does not have. `data` and `payload` are JSON text. */
export interface Notification {
  id: string;
  name?: string | null;
  event: string;
  resource: string;
  accountId: string;
  applicationId?: string | null;
  occurredAt: Date;
  test: boolean;
  data: string;
  payload?: string | null;
}

/** The body of a notification. `data` and `payload` are copied byte for byte as they were received. */
export function notificationBody(notification: Notification): string {
  const { id, name, event, resource, accountId, applicationId, occurredAt, payload } = notification;
  return jsonText({
    id,
    name: name ?? undefined,
    event,
    resource,
    accountId,
    applicationId: applicationId ?? undefined,
    timestamp: occurredAt.toISOString(),
    test: notification.test || undefined,
    data: new RawJson(notification.data),
    payload: typeof payload === 'string' ? new RawJson(payload) : undefined,
  });
}
