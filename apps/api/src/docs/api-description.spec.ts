import { expect, it } from 'vitest';
import { describeApi } from './api-description.js';

type Json = Record<string, unknown>;

const document = describeApi({ MAX_BODY_BYTES: 1 << 18, MAX_BATCH_BYTES: 1 << 23 });
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** The operations of path items, and of the callbacks of these operations. */
function operationsIn(items: unknown): Json[] {
  return Object.values((items ?? {}) as Record<string, Json>).flatMap((item) =>
    METHODS.flatMap((method) => {
      const operation = item[method] as Json | undefined;
      if (!operation) return [];
      const callbacks = Object.values((operation['callbacks'] ?? {}) as Json);
      return [operation, ...callbacks.flatMap(operationsIn)];
    }),
  );
}

const operations = [
  ...operationsIn(document['paths']),
  ...operationsIn(document['webhooks']),
  ...operationsIn((document['components'] as Json)['callbacks']),
];

// A Go client with two operations of one name does not compile.
it('gives every operation an operationId of its own, callbacks included', () => {
  const ids = operations.map(({ operationId }) => operationId);
  expect(ids).toContain('applicationWebhooksCreateNotification');
  expect(ids.filter((id) => typeof id !== 'string' || id === '')).toEqual([]);
  expect(ids.filter((id, index) => ids.indexOf(id) < index)).toEqual([]);
});
