import { expect, it } from 'vitest';
import { deliveryCells, deliveryText } from './delivery-text.js';

const delivery: Parameters<typeof deliveryText>[0] = {
  id: '019a9c1e-5f3c-7b0e-9d52-3c1f0a7b6e11',
  href: 'https://api.example.com/v1/deliveries/019a9c1e-5f3c-7b0e-9d52-3c1f0a7b6e11',
  eventId: '019a9c1e-5f3c-7b0e-9d52-3c1f0a7b6e10',
  webhookId: '7',
  event: 'cdrCreated',
  resource: 'call',
  targetUrl: 'https://target.example/',
  state: 'pending',
  attempts: 0,
  createdAt: '2026-01-31T12:00:00.000Z',
  test: false,
  attemptLog: [],
};

it.each([
  ['2026-01-31T12:00:00.000Z', 'due since'],
  ['2999-01-31T12:00:00.000Z', 'next attempt at'],
])('says that a delivery with the next attempt at %s is %s it', (nextAttemptAt, says) => {
  const [verdict] = deliveryText({ ...delivery, nextAttemptAt }).split('\n');
  expect(verdict).toBe(`pending after 0 attempts, ${says} ${nextAttemptAt}`);
});

it('marks a test', () => {
  const { id, webhookId, eventId } = delivery;
  expect(deliveryCells(delivery)).toContain('cdrCreated call');
  expect(deliveryCells({ ...delivery, test: true })).toContain('cdrCreated call test');
  const about = `${id}: cdrCreated call test for subscription ${webhookId}, event ${eventId}`;
  expect(deliveryText({ ...delivery, test: true }).split('\n')).toContain(about);
});
