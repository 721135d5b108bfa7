import { expect, it } from 'vitest';
import { notificationBody } from '../../deliveries/domain/notification-body.js';
import { NotificationSchema } from './notification.openapi.js';

const smallest = {
  id: '019a0b1c-2d3e-7f40-8a51-b26c73d84e95',
  event: 'cdrCreated',
  resource: 'call',
  accountId: '83346',
  occurredAt: new Date(),
  test: false,
  data: '{}',
};
const membersOf = (body: string): string[] => Object.keys(JSON.parse(body) as object).sort();

it('describes exactly the members of a notification, and which are always present', () => {
  const everything = { ...smallest, name: 'n', applicationId: '1', test: true, payload: '{}' };
  const { properties = {}, required = [] } = NotificationSchema;
  expect(membersOf(notificationBody(everything))).toEqual(Object.keys(properties).sort());
  expect(membersOf(notificationBody(smallest))).toEqual([...required].sort());
});
