import { jsonText, RawJson } from '#libs/kernel';

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
