import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { signatureHeaders } from '../../subscriptions/domain/signing-key.js';
import { notificationBody } from './notification-body.js';

const notification = {
  id: '0192f0c1-0000-7000-8000-000000000001',
  event: 'cdrCreated',
  resource: 'call',
  accountId: '83346',
  occurredAt: new Date('2026-11-21T12:00:00.000Z'),
  test: false,
  data: '{"big": 12345678901234567890,"a":1,"a":2}',
};

it('copies data and payload into the body exactly as they were sent', () => {
  const payload = '{ "x" : 1.00 }';
  expect(notificationBody({ ...notification, name: 'prod', applicationId: '7', payload })).toBe(
    '{"id":"0192f0c1-0000-7000-8000-000000000001","name":"prod","event":"cdrCreated","resource":"call",' +
      '"accountId":"83346","applicationId":"7","timestamp":"2026-11-21T12:00:00.000Z",' +
      '"data":{"big": 12345678901234567890,"a":1,"a":2},"payload":{ "x" : 1.00 }}',
  );
});

it('omits absent members, and marks a test', () => {
  const body = JSON.parse(notificationBody({ ...notification, test: true })) as object;
  expect(Object.keys(body)).toEqual([
    'id',
    'event',
    'resource',
    'accountId',
    'timestamp',
    'test',
    'data',
  ]);
  expect(body).toMatchObject({ test: true });
});

it('signs so that the library of Standard Webhooks verifies it, with either secret', () => {
  const secrets = [1, 2].map((byte) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`);
  const body = notificationBody(notification);
  const headers = signatureHeaders(notification.id, new Date(), body, secrets);
  expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
  for (const secret of secrets) {
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({ id: notification.id });
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
  }
});
