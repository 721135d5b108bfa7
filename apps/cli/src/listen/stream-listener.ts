import type { Schemas } from '#libs/client';
import { rawMember } from '#libs/kernel';
import { notificationBody, signatureHeaders } from '#libs/webhooks/domain';
import { activityOf } from '../api/activity.js';
import type { ApiConnection } from '../api/api-connection.js';
import { OwnSubscriptions, type Wanted } from './own-subscriptions.js';

/** A notification as a worker would send it. */
export interface Notified {
  headers: Record<string, string>;
  body: Buffer;
}

/**
 * Passes the notifications of an account to a function, one after the other, without a reachable address: it follows
 * the stream with temporary subscriptions, and removes them at the end.
 * @param secrets sign the notifications
 * @param onStart called once nothing can be missed any more
 * @throws CommandFailure
 */
export async function listenByStream(
  api: ApiConnection,
  wanted: Wanted,
  secrets: readonly string[],
  signal: AbortSignal,
  onStart: () => void,
  notify: (notified: Notified) => Promise<void>,
): Promise<void> {
  const own = new OwnSubscriptions(api);
  const seen = new Set<string>();
  let isStarted = false;
  const take = async (delivery: Schemas['Delivery']): Promise<void> => {
    if (!own.has(delivery.webhookId) || seen.has(delivery.id)) return;
    seen.add(delivery.id);
    await notify(await notificationOf(api, delivery, secrets));
  };
  try {
    for await (const { event, data } of activityOf(api, signal)) {
      // Each reconnection sends one more.
      if (event === 'open' && !isStarted) {
        isStarted = true;
        await own.create(wanted);
        onStart();
      } else if (event === 'delivery') await take(JSON.parse(data) as Schemas['Delivery']);
      else if (event === 'interrupted') for (const one of await own.deliveries()) await take(one);
    }
  } finally {
    await own.remove();
  }
}

async function notificationOf(
  api: ApiConnection,
  delivery: Schemas['Delivery'],
  secrets: readonly string[],
): Promise<Notified> {
  const { text } = await api.ask('GET', `v1/events/${delivery.eventId}`);
  const event = JSON.parse(text) as Schemas['EventReport'];
  const body = notificationBody({
    id: delivery.id,
    name: 'switchhook listen',
    event: event.event,
    resource: event.resource,
    accountId: String(event.accountId),
    ...(event.applicationId !== undefined && { applicationId: event.applicationId }),
    occurredAt: new Date(event.occurredAt),
    test: delivery.test,
    data: rawMember(text, 'data') ?? 'null',
  });
  const headers = {
    'content-type': 'application/json',
    ...signatureHeaders(delivery.id, new Date(), body, secrets),
  };
  return { headers, body: Buffer.from(body) };
}
