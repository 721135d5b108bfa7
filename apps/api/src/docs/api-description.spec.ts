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

/** All schemas inside a part of the document with their locations, references resolved. */
function schemasIn(part: unknown, at: string): [at: string, schema: Json][] {
  if (typeof part !== 'object' || part === null) return [];
  const { $ref: reference } = part as { $ref?: string };
  if (reference !== undefined) {
    const target = reference.split('/').slice(1);
    return schemasIn(
      target.reduce<unknown>((json, name) => (json as Json)[name], document),
      `${at} (${reference})`,
    );
  }
  const inner = Object.entries(part).filter(([name]) => !/^examples?$/.test(name));
  return [
    [at, part as Json],
    ...inner.flatMap(([name, value]) => schemasIn(value, `${at}/${name}`)),
  ];
}

const operations = [
  ...operationsIn(document['paths']),
  ...operationsIn(document['webhooks']),
  ...operationsIn((document['components'] as Json)['callbacks']),
];

// A Go client with two operations of one name does not compile.
it('gives every operation a unique operationId, callbacks included', () => {
  const ids = operations.map(({ operationId }) => operationId);
  expect(ids).toContain('applicationWebhooksCreateNotification');
  expect(ids.filter((id) => typeof id !== 'string' || id === '')).toEqual([]);
  expect(ids.filter((id, index) => ids.indexOf(id) < index)).toEqual([]);
});

// Java clients sent `{}` for `headers` and `payload` that were not set, which erased both.
it('never allows both "object" and "null" as the type of a member in a request body', () => {
  const schemas = operations.flatMap(({ operationId, requestBody }) =>
    schemasIn(requestBody, String(operationId)),
  );
  expect(schemas.length).toBeGreaterThan(100);
  const nullable = schemas.filter(([, { type }]) => Array.isArray(type) && type.includes('null'));
  expect(nullable.length).toBeGreaterThan(10);
  const objects = nullable.filter(([, { type }]) => (type as string[]).includes('object'));
  expect(objects.map(([at]) => at)).toEqual([]);
});

// Java and Go clients could not tell the results of a batch apart.
it('has no alternatives in an answer', () => {
  const schemas = operations.flatMap(({ operationId, responses }) =>
    schemasIn(responses, String(operationId)),
  );
  expect(schemas.length).toBeGreaterThan(100);
  const alternatives = schemas.filter(([, schema]) => 'oneOf' in schema || 'anyOf' in schema);
  expect(alternatives.map(([at]) => at)).toEqual([]);
});

// Go clients name a constant `CdrCreated` only while one schema has it.
it('refers to a named choice instead of listing its values again', () => {
  const named = (document['components'] as { schemas: Record<string, Json> }).schemas;
  const choices = Object.entries(named).flatMap(([name, { enum: values }]) =>
    values === undefined ? [] : [[JSON.stringify(values), name] as const],
  );
  expect(choices.map(([, name]) => name)).toContain('EventKind');
  const nameOf = new Map(choices);
  const again = Object.entries(named).flatMap(([name, { properties = {} }]) =>
    schemasIn(properties, name).flatMap(([at, { enum: values }]) =>
      !at.includes('#') && nameOf.has(JSON.stringify(values)) ? [at] : [],
    ),
  );
  expect(again).toEqual([]);
});
