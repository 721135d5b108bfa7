import { rawMembers } from './raw-json.js';

/** The body of a notification, built from the JSON texts of its event and its subscription. */
export function signedBody({
  id,
  isTest,
  event,
  webhook,
}: {
  /** Of the delivery. */
  id: string;
  isTest: boolean;
  event: string;
  /** Absent if the subscription was deleted: its name and payload are unknown. */
  webhook: string | undefined;
}): string {
  const ofEvent = rawMembers(event);
  const ofWebhook = webhook === undefined ? new Map<string, string>() : rawMembers(webhook);
  const account = ofEvent.get('accountId');
  // In the order of the notification.
  const members: [string, string | undefined][] = [
    ['id', JSON.stringify(id)],
    ['name', ofWebhook.get('name')],
    ['event', ofEvent.get('event')],
    ['resource', ofEvent.get('resource')],
    // A number in the API, but a string in notifications.
    ['accountId', account && JSON.stringify(account)],
    ['applicationId', ofEvent.get('applicationId')],
    ['timestamp', ofEvent.get('occurredAt')],
    ['test', isTest ? 'true' : undefined],
    ['data', ofEvent.get('data')],
    ['payload', ofWebhook.get('payload')],
  ];
  const present = members.filter(([, text]) => text !== undefined);
  return `{${present.map(([name, text]) => `"${name}":${text ?? ''}`).join(',')}}`;
}
