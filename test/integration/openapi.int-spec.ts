import { readdirSync, readFileSync } from 'node:fs';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Validator } from '@seriousme/openapi-schema-validator';
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { apiInProcess } from '../support/in-process.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import {
  type ApiDocument,
  DescribedApi,
  type DescribedOperation,
  type JsonSchema,
} from '../support/described-api.js';
import { type Answer, type Client, clientOf, send } from '../support/http.js';

let database: TestDatabase;
let app: NestExpressApplication;
let base: string;
let text: string;
let document: ApiDocument;
let api: DescribedApi;
/** Owns the resources that the examples name. */
let customer: Client;
let platform: Client;
let event: string;
let delivery: string;

/** The resources that the examples of the document name. */
const EXAMPLE = {
  user: '83346',
  application: '5080983',
  webhook: '4711',
  credential: '7',
  replay: '019a0b1c-2d3e-7f40-8a51-b26c73d84e95',
  recovery: '019a0b1c-2d3e-7f40-8a51-b26c73d84e95',
  erasure: '019a0b1c-2d3e-7f40-8a51-b26c73d84e95',
};

beforeAll(async () => {
  database = await createTestDatabase();
  ({ app, url: base } = await apiInProcess({ DATABASE_URL: database.url }));
  text = (await send('GET', `${base}/openapi.json`)).text;
  document = JSON.parse(text) as ApiDocument;
  api = new DescribedApi(document);
  await makeExamples();
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

/** Creates the user, the application and the subscription that the examples name. */
async function makeExamples(): Promise<void> {
  const [owner, operator] = await Promise.all([
    createUser(database, 'customer'),
    createUser(database, 'switch', 'platform'),
    createUser(database, 'leaving'),
  ]);
  await database.query(
    `WITH gone AS (DELETE FROM credentials WHERE user_id = $1 RETURNING hash),
     u AS (
       INSERT INTO users (id, username, role, status, salt)
       SELECT $2, 'example', role, status, salt FROM users WHERE id = $1
     )
     INSERT INTO credentials (user_id, hash) SELECT $2, hash FROM gone`,
    [owner.id, EXAMPLE.user],
  );
  customer = clientOf(base, 'example:customer-secret');
  platform = clientOf(base, operator.auth);
  await restoreExamples();
  // Beyond the ids that were chosen above.
  await database.query(`SELECT setval(pg_get_serial_sequence('credentials', 'id'), 1000)`);
  const report = async () => {
    const accepted = await platform.post('/v1/events', {
      event: 'cdrCreated',
      resource: 'call',
      applicationId: EXAMPLE.application,
      data: {},
    });
    return accepted.json<{ id: string }>().id;
  };
  event = await report();
  const shown = await customer.get(`/v1/events/${await report()}`);
  delivery = shown.json<{ deliveries: { id: string }[] }>().deliveries[0]!.id;
}

async function restoreExamples(): Promise<void> {
  const { user, application, webhook, credential, replay, recovery, erasure } = EXAMPLE;
  await database.query('DELETE FROM webhooks');
  await database.query('DELETE FROM applications');
  await database.query(
    `INSERT INTO applications (id, user_id, name, api_type, voice_url, environment_id)
     VALUES ($1, $2, 'example', 'webapi', 'https://shop.example.com/', 2)`,
    [application, user],
  );
  await database.query(
    `INSERT INTO webhooks
       (id, account_id, application_id, event, resource, target_url, enabled, secret)
     VALUES ($1, $2, $3, 'cdrCreated', 'all', 'https://hooks.example.com/', true, $4)`,
    [webhook, user, application, `whsec_${Buffer.alloc(32, 7).toString('base64')}`],
  );
  await database.query(
    `INSERT INTO credentials (id, user_id, hash) VALUES ($1, $2, decode(repeat('00', 32), 'hex'))
     ON CONFLICT DO NOTHING`,
    [credential, user],
  );
  await database.query('DELETE FROM environments WHERE id > 2');
  // So that it can be sent to a subscription.
  await database.query('DELETE FROM deliveries WHERE event_id = $1', [event]);
  await database.query('DELETE FROM replays; DELETE FROM recoveries; DELETE FROM erasures');
  await database.query(
    `INSERT INTO recoveries (id, since, until, user_id, visited_at) VALUES ($1, now(), now(), $2, now())`,
    [recovery, user],
  );
  await database.query(
    `INSERT INTO erasures (id, account_id, until, after, completed_at) VALUES ($1, $2, now(), least_uuid('epoch'), now())`,
    [erasure, user],
  );
  await database.query(
    `INSERT INTO replays (id, webhook_id, account_id, since, until, states, total)
     VALUES ($1, $2, $3, now(), now(), '{exhausted}', 0)`,
    [replay, webhook, user],
  );
}

const operations = () => api.operations;
const parameters = (described: DescribedOperation, place: string) =>
  api.parametersOf(described, place);

/** The path with the example of each parameter; event ids are taken from real events. */
function examplePath(described: DescribedOperation): string {
  return parameters(described, 'path').reduce((path, { name, schema }) => {
    const value = path.startsWith('/v1/events/')
      ? event
      : path.startsWith('/v1/deliveries/')
        ? delivery
        : String(schema.examples?.[0]);
    return path.replace(`{${name}}`, value);
  }, described.path);
}

const isForPlatform = (described: DescribedOperation) => api.isForPlatform(described);

function call(
  described: { method: string } | DescribedOperation,
  path: string,
  by: Client,
  body?: object,
) {
  const { method } = described;
  if ('operation' in described && api.isEndless(described)) return by.head(path);
  const calls: Record<string, () => Promise<Answer>> = {
    GET: () => by.get(path),
    POST: () => by.post(path, body),
    PUT: () => by.put(path, body),
    DELETE: () => by.delete(path),
  };
  return calls[method]!();
}

const bodyOf = (described: DescribedOperation) => api.bodyOf(described);

describe('the document', () => {
  it('is valid against the meta-schema of OpenAPI 3.1', async () => {
    type Specification = Parameters<Validator['validate']>[0];
    const specification = JSON.parse(text) as Exclude<Specification, string>;
    expect(await new Validator().validate(specification)).toEqual({ valid: true });
    const broken = { ...specification, info: {} };
    expect(await new Validator().validate(broken)).toMatchObject({ valid: false });
  });

  it('contains only JSON Schemas of draft 2020-12', () => {
    const ajv = new Ajv2020({ strict: false });
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      expect([name, ajv.validateSchema(schema)]).toEqual([name, true]);
    }
  });

  it("passes Spectral's rules for OpenAPI without a warning", async () => {
    const linter = new spectral.Spectral();
    linter.setRuleset({ extends: [rulesets.oas as RulesetDefinition] });
    expect(await linter.run(text)).toEqual([]);
    const broken = text.replace('"operationId":"applicationsList",', '');
    expect((await linter.run(broken)).map(({ code }) => code)).toContain('operation-operationId');
  }, 120_000);

  it('is served without credentials and names its own server', async () => {
    const { status, headers } = await send('GET', `${base}/openapi.json`);
    expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: base }] });
  });
});

it('the receiving guide has every word that stands for a state, a reason or a kind', () => {
  const page = readdirSync('docs/receiving')
    .map((name) => readFileSync(`docs/receiving/${name}`, 'utf8'))
    .join();
  const names = ['Webhook', 'EventReport', 'DeliveryWithAttempts', 'Replay'];
  const [words, known] = [new Set<unknown>(), new Set<unknown>()];
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || known.has(value)) return;
    known.add(value);
    const { $ref, enum: choices = [] } = value as JsonSchema;
    for (const word of choices) words.add(word);
    if ($ref !== undefined) look(document.components.schemas[$ref.split('/').at(-1)!]);
    for (const inside of Object.values(value)) look(inside);
  };
  for (const name of names) look(document.components.schemas[name]);
  expect(words.size).toBeGreaterThan(30);
  expect([...words].filter((word) => !new RegExp(`[\`"]${String(word)}[\`"]`).test(page))).toEqual(
    [],
  );
});

describe('every route', () => {
  it('is described, and every described route exists', () => {
    const { stack } = app.getHttpAdapter().getInstance().router as unknown as {
      stack: { route?: { path: string; methods: Record<string, boolean> } }[];
    };
    const routes = stack.flatMap(({ route }) =>
      // Pages, and redirects to them, are not part of the API.
      route && !/^\/(\{\*path\}|(console|docs)(\/.*)?)?$/.test(route.path)
        ? Object.keys(route.methods).map(
            (method) => `${method.toUpperCase()} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`,
          )
        : [],
    );
    const described = operations().map(({ method, path }) => `${method} ${path}`);
    expect(described.sort()).toEqual(routes.sort());
    expect(described.length).toBeGreaterThan(30);
  });

  it('has exactly its path parameters described', () => {
    for (const described of operations()) {
      const names = [...described.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(parameters(described, 'path').map(({ name }) => name)).toEqual(names);
    }
  });

  it('needs credentials exactly where its description says so', async () => {
    for (const described of operations()) {
      const { method, operation } = described;
      const answer = await send(method, base + examplePath(described));
      const isClosed = api.mayRefuseWith(described, 'unauthorized');
      expect([operation.operationId, answer.status === 401]).toEqual([
        operation.operationId,
        isClosed,
      ]);
      expect('security' in operation).toBe(!isClosed);
    }
  });

  it('refuses customers exactly where its description says so', async () => {
    for (const described of operations()) {
      if (described.method === 'DELETE') continue;
      const answer = await call(described, examplePath(described), customer);
      expect([described.operation.operationId, answer.status === 403]).toEqual([
        described.operation.operationId,
        isForPlatform(described),
      ]);
    }
    const removal = operations().filter(
      (described) => described.method === 'DELETE' && isForPlatform(described),
    );
    expect(removal.map(({ operation }) => operation.operationId)).toEqual(['usersClose']);
  });

  it('reads exactly the query parameters that are described', async () => {
    const lists = operations().filter(({ method }) => method === 'GET');
    const names = new Set(lists.flatMap((list) => parameters(list, 'query')).map((p) => p.name));
    expect(names.size).toBeGreaterThan(8);
    const twice = [...names].map((name) => `${name}=1&${name}=1`).join('&');
    for (const list of lists) {
      const answer = await call(list, `${examplePath(list)}?${twice}`, platformFor(list));
      const { errors = [] } = /json/.test(answer.headers['content-type'] ?? '')
        ? answer.json<{ errors?: { field: string }[] }>()
        : {};
      const known = parameters(list, 'query').map(({ name }) => name);
      expect([list.path, errors.map(({ field }) => field).sort()]).toEqual([
        list.path,
        known.sort(),
      ]);
    }
  });

  it('takes an Idempotency-Key exactly where the general text says so', () => {
    const takesKey = operations().filter((described) =>
      parameters(described, 'header').some(({ name }) => name === 'Idempotency-Key'),
    );
    expect(takesKey.map(({ operation }) => operation.operationId).sort()).toEqual([
      'applicationWebhooksCreate',
      'applicationsCreate',
      'deliveriesRedeliver',
      'deliveriesSend',
      'deliveriesTest',
      'erasuresStart',
      'missedEventsDeliver',
      'recoveriesStart',
      'replaysRedeliver',
      'replaysSend',
      'replaysStart',
      'webhooksCreate',
    ]);
    const { info } = JSON.parse(text) as { info: { description: string } };
    expect(info.description.replaceAll(/\s+/g, ' ')).toContain(
      'A POST that creates an application, a subscription, a replay, a recovery, an erasure, a test or a delivery, or sends ' +
        'one, can be repeated safely if it has an `Idempotency-Key`; an event can, if it has an ' +
        '`id`.',
    );
  });

  it('accepts no path or method beyond the described ones', async () => {
    // The client checks each answer against the document.
    expect((await customer.get('/v1/unknown')).status).toBe(404);
    expect((await customer.delete('/v1/applications')).status).toBe(405);
    expect((await send('GET', `${base}/unknown`)).status).toBe(404);
    expect((await send('PUT', `${base}/v1/unknown`)).status).toBe(401);
    expect((await customer.head('/v1/applications')).status).toBe(200);
  });
});

function platformFor(described: DescribedOperation): Client {
  return isForPlatform(described) ? platform : customer;
}

describe('every error', () => {
  const source = readFileSync(new URL('../../libs/kernel/src/errors.ts', import.meta.url), 'utf8');
  const wordsOf = (type: string): string[] => {
    const [, words = ''] = new RegExp(`export type ${type} =([^;]*);`).exec(source) ?? [];
    return [...words.matchAll(/'(\w+)'/g)].map(([, word = '']) => word);
  };

  /** The codes of all errors that the libraries throw. */
  function thrownCodes(): string[] {
    const libraries = new URL('../../libs/', import.meta.url);
    const files = readdirSync(libraries, { recursive: true }).map(String);
    const texts = files
      .filter((path) => path.endsWith('.ts') && !path.endsWith('spec.ts'))
      .map((path) => readFileSync(new URL(path, libraries), 'utf8'));
    const thrown = /(?:super|DomainError)\(\s*'\w+',\s*'(\w+)'/g;
    const found = texts.flatMap((text) => [...text.matchAll(thrown)].map(([, code = '']) => code));
    return [...new Set(found)];
  }

  it('has its code in the Problem schema and in a described response', () => {
    const codes = thrownCodes();
    expect(codes).toContain('webhook_limit_reached');
    const problem = document.components.schemas['Problem']!;
    expect([...(problem.properties!['code']!.enum ?? [])].sort()).toEqual(codes.sort());
    const answers = Object.values(document.components['responses'] ?? {}) as {
      'x-codes': string[];
    }[];
    const answered = answers.flatMap((answer) => answer['x-codes']);
    expect([...new Set(answered)].sort()).toEqual(codes.sort());
  });

  it('has the codes of its field faults described', () => {
    const fault = document.components.schemas['Fault']!;
    expect([...(fault.properties!['code']!.enum ?? [])].sort()).toEqual(
      wordsOf('FieldCode').sort(),
    );
  });
});

describe('every field', () => {
  it('of a body is described with its type', () => {
    expect(operations().filter((described) => bodySchema(described)).length).toBeGreaterThan(6);
    for (const described of operations()) {
      const schema = bodySchema(described);
      for (const [name, member] of Object.entries(schema?.properties ?? {})) {
        const { type, oneOf = [{ type }] } = api.resolve(member);
        const types = oneOf.map((one) => one.type);
        expect([described.path, name, ...types]).not.toContain(undefined);
        expect(member.description).toMatch(/^\S.*\.$/s);
      }
    }
  });

  it.each(['required', 'type', 'enum', 'maxLength', 'pattern'])(
    'enforces its described rule: %s',
    async (keyword) => {
      let count = 0;
      for (const described of operations()) {
        const body = bodyOf(described);
        const schema = bodySchema(described);
        const [example] = Object.values(body?.examples ?? {});
        if (!schema || !example || described.path.endsWith('/batch')) continue;
        for (const [name, property] of Object.entries(schema.properties ?? {})) {
          const member = api.resolve(property);
          const wrong = breaking(keyword, name, member, schema);
          if (!wrong) continue;
          const given = { ...example.value, [name]: wrong.value };
          const path = examplePath(described);
          const answer = await call(described, path, platformFor(described), given);
          const { errors } = answer.json<{ errors?: { field: string; code: string }[] }>();
          const fault = errors?.find(({ field }) => field === name)?.code;
          expect([described.path, name, wrong.codes.includes(fault ?? '')], fault).toEqual([
            described.path,
            name,
            true,
          ]);
          count += 1;
        }
      }
      expect(count).toBeGreaterThan(keyword === 'pattern' || keyword === 'required' ? 4 : 8);
    },
  );

  it.each([
    [{}, 'required'],
    [{ events: {} }, 'type'],
    [{ events: [] }, 'length'],
    [{ events: Array.from({ length: 1_001 }, () => ({})) }, 'length'],
  ])('of a batch has the described rules', async (body, code) => {
    const answer = await platform.post('/v1/events/batch', body);
    expect(answer.json()).toMatchObject({ errors: [{ field: 'events', code }] });
    expect(document.components.schemas['EventBatch']).toMatchObject({
      required: ['events'],
      properties: { events: { type: 'array', minItems: 1, maxItems: 1_000 } },
    });
  });

  function bodySchema(described: DescribedOperation): JsonSchema | undefined {
    const schema = bodyOf(described)?.schema;
    return schema && api.resolve(schema);
  }

  /** A value that breaks a rule of a field, and the codes of the expected fault. */
  function breaking(keyword: string, name: string, member: JsonSchema, body: JsonSchema) {
    const types = [member.type].flat();
    if (keyword === 'required')
      return body.required?.includes(name) ? { value: undefined, codes: ['required'] } : undefined;
    if (keyword === 'type') return { value: types.includes('array') ? {} : [1], codes: ['type'] };
    if (keyword === 'enum' && member.enum) return { value: 'none', codes: ['choice'] };
    if (keyword === 'maxLength' && member.maxLength)
      return { value: 'x'.repeat(member.maxLength + 1), codes: ['length'] };
    if (keyword === 'pattern' && 'pattern' in member)
      return { value: '\u0000', codes: ['format', 'choice', 'length'] };
    return undefined;
  }
});

describe('every example', () => {
  beforeEach(restoreExamples);

  it('of a path and a query is answered with 200', async () => {
    let count = 0;
    for (const described of operations().filter(({ method }) => method === 'GET')) {
      const path = examplePath(described);
      const query = parameters(described, 'query')
        .map(({ name, schema }) => {
          const isOfAnEvent = schema['format'] === 'uuid';
          const value = isOfAnEvent ? event : (schema.examples ?? schema.enum)?.[0];
          return `${name}=${encodeURIComponent(String(value))}`;
        })
        .join('&');
      const real = path.replace('/credentials/7', `/credentials/${EXAMPLE.credential}`);
      const answer = await call(described, `${real}?${query}`, platformFor(described));
      expect([path, answer.status]).toEqual([path, 200]);
      count += 1;
    }
    expect(count).toBeGreaterThan(15);
  });

  it('of a body is accepted', async () => {
    let count = 0;
    for (const described of operations()) {
      const { method, operation } = described;
      // An earlier example may have switched the subscription off.
      await restoreExamples();
      for (const [name, { value }] of Object.entries(bodyOf(described)?.examples ?? {})) {
        const path = examplePath(described);
        const answer = await call({ method }, path, platformFor(described), value);
        expect([operation.operationId, name, answer.status, answer.text]).toEqual([
          operation.operationId,
          name,
          expect.toBeOneOf([200, 202]),
          answer.text,
        ]);
        for (const result of answer.json<{ results?: object[] }>().results ?? []) {
          expect(result).toHaveProperty('deliveries');
        }
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(20);
  });

  it('of a route without a body succeeds', async () => {
    for (const described of operations()) {
      const { method, operation } = described;
      if (method === 'GET' || bodyOf(described)) continue;
      await restoreExamples();
      // Makes it possible to redeliver it, and to cancel it again.
      await database.query(
        `UPDATE deliveries SET state = 'cancelled', reason = 'requested', completed_at = now(),
           claimed_until = NULL`,
      );
      // Otherwise, the customer could not go on.
      const isLast = operation.operationId === 'usersClose';
      const path = isLast ? '/v1/users/leaving' : examplePath(described);
      const answer = await call({ method }, path, platformFor(described));
      expect([operation.operationId, answer.status]).toEqual([
        operation.operationId,
        expect.toBeOneOf([200, 202]),
      ]);
    }
  });

  it('of an answer matches its own schema', () => {
    for (const described of operations()) {
      for (const [status, response] of Object.entries(described.operation.responses)) {
        const { headers = {}, content = {} } = api.resolve(response);
        const names = Object.keys(headers).map((name) => [name.toLowerCase(), 'x'] as const);
        for (const [type, { example }] of Object.entries(content)) {
          if (example === undefined) continue;
          const path = described.path.replaceAll(/[{}]/g, '');
          const faults = api.faultsOf(described.method, path, {
            status: Number(status),
            headers: { ...Object.fromEntries(names), 'content-type': type },
            text: JSON.stringify(example),
          });
          expect(faults).toEqual([]);
        }
      }
    }
  });
});

describe('an answer that differs from its description', () => {
  const id = `/v1/applications/${EXAMPLE.application}`;

  it.each<[what: string, change: (answer: Answer) => object, fault: RegExp]>([
    ['with another status', () => ({ status: 299 }), /status 299 is not described/],
    [
      'with an extra field',
      (answer) => ({ text: JSON.stringify({ ...answer.json(), more: 1 }) }),
      /must NOT have additional properties/,
    ],
    [
      'without a required field',
      (answer) => ({ text: JSON.stringify({ ...answer.json(), name: undefined }) }),
      /must have required property 'name'/,
    ],
    [
      'with a field of another type',
      (answer) => ({ text: JSON.stringify({ ...answer.json(), userId: '83346' }) }),
      /userId must be integer/,
    ],
    [
      'without its ETag',
      ({ headers }) => ({ headers: { ...headers, etag: undefined } }),
      /header ETag is missing/,
    ],
    [
      'with an extra header',
      ({ headers }) => ({ headers: { ...headers, location: 'x' } }),
      /header location is not described/,
    ],
    [
      'of another content type',
      ({ headers }) => ({ headers: { ...headers, 'content-type': 'text/html' } }),
      /text\/html is not described/,
    ],
  ])('is detected: one %s', async (_, change, fault) => {
    await restoreExamples();
    const answer = await customer.get(id);
    expect(api.faultsOf('GET', id, answer)).toEqual([]);
    expect(api.faultsOf('GET', id, { ...answer, ...change(answer) }).join()).toMatch(fault);
  });
});
