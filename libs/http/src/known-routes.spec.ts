import { expect, it } from 'vitest';
import { similarPath } from './known-routes.js';

const ROUTES = [
  '/v1/applications/:id',
  '/v1/applications/:id/webhooks',
  '/v1/events',
  '/v1/events/batch',
  '/v1/events/:id',
  '/v1/webhooks',
  '/v1/webhooks/:id',
  '/v1/webhooks/:id/pause',
  '/v1/webhooks/:id/secret/rotate',
];

it.each([
  ['/v1/webhook', '/v1/webhooks'],
  ['/v1/Webhooks/7/pause', '/v1/webhooks/7/pause'],
  ['/v2/webhok/7/paus', '/v1/webhooks/7/pause'],
  ['/v1/event/batc', '/v1/events/batc'],
  ['/v1/application/8/webhook', '/v1/applications/8/webhooks'],
])('suggests for %s the path %s', (path, meant) => {
  expect(similarPath(path, ROUTES)).toBe(meant);
});

it.each([
  '/',
  '/v1',
  '/v1/calls',
  '/v1/webhooks/7/stop',
  '/v1/webhooks/7/secret',
  `/v1/webhooks${'s'.repeat(60)}`,
])('suggests nothing for %s', (path) => {
  expect(similarPath(path, ROUTES)).toBeUndefined();
});
