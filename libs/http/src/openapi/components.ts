import type { AnswerHeader } from './describe.js';
import type { CommonCode, DescribedErrors } from './errors.js';
import { baseOf, nameOf, type Schema, text } from './schema.js';

/** A part of the document. */
export type Json = Record<string, unknown>;

const HEADERS = {
  'X-Request-Id': header(
    "Identifies the request in errors and logs: the client's own value if it is valid, otherwise a new one.",
    text('', 'f0b1c7de-6a0e-4c07-9d3f-2f7f5a2b9c11'),
  ),
  ETag: header(
    "The version of the resource's writable fields, for `If-Match`.",
    text('', '"3"', { pattern: '^"[0-9]+"$' }),
  ),
  Location: header(
    'The URL of the created resource.',
    text('', 'https://api.example.com/v1/applications/5080983', { format: 'uri' }),
  ),
  Link: header(
    'The URL of the next page, if there is one.',
    text('', '<https://api.example.com/v1/applications?limit=2&after=5080983>; rel="next"'),
    false,
  ),
  'Switchhook-Searched-To': header(
    'If the page ended before it was full: everything from this time on has been searched, and the next page ' +
      'continues from here.',
    text('', '2026-01-31T12:00:00.000Z', { format: 'date-time' }),
    false,
  ),
  'Switchhook-Cursor': header(
    'The cursor to go on with, as `after`. Nothing ever appears behind it.',
    text('', '019a0b1c-2d3c-7a10-9c77-04d6f1e2b388', { format: 'uuid' }),
  ),
  'Idempotency-Replayed': header(
    'Always `true`: an earlier request with the same `Idempotency-Key` created the resource.',
    { type: 'string', enum: ['true'] },
    false,
  ),
  'WWW-Authenticate': header(
    'The authentication scheme; absent if a page of this origin sent the request.',
    text('', 'Basic realm="switchhook", charset="UTF-8"'),
    false,
  ),
  'Retry-After': header('Seconds to wait before a retry.', {
    type: 'integer',
    minimum: 0,
    examples: [5],
  }),
  Allow: header('The methods that the path supports.', text('', 'DELETE, GET, HEAD, PUT')),
  'RateLimit-Policy': header(
    'The rate limit, if there is one: an account may make `q` requests in `w` seconds ' +
      '(draft-ietf-httpapi-ratelimit-headers-11).',
    text('', '"account";q=600;w=60'),
    false,
  ),
  RateLimit: header(
    'What is left of the rate limit, if there is one: the account may make `r` requests now, and one more in `t` ' +
      'seconds (draft-ietf-httpapi-ratelimit-headers-11).',
    text('', '"account";r=599;t=1'),
    false,
  ),
} satisfies Record<string, Json>;

type HeaderName = keyof typeof HEADERS;

/** The additional header of an error. */
const HEADER_OF: Partial<Record<string, HeaderName>> = {
  unauthorized: 'WWW-Authenticate',
  rate_limited: 'Retry-After',
  unavailable: 'Retry-After',
  idempotency_key_in_use: 'Retry-After',
  method_not_allowed: 'Allow',
} satisfies Partial<Record<CommonCode, HeaderName>>;

const PARAMETERS: Record<'IfMatch' | 'IdempotencyKey', Json> = {
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The `ETag` of the version to change. If the resource has another version, the response is 412 and nothing ' +
      'changes. Commas separate several tags; `*` matches any version.',
    schema: { type: 'string', examples: ['*'] },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A unique key for the request, such as a new UUID. Within 24 hours, a repeat with the same key and body gets ' +
      'the same response and creates nothing.',
    schema: {
      type: 'string',
      pattern: '^[!-~]{1,255}$',
      examples: ['0b2f6c1e-5d0a-4d3c-9a55-8e4f0c6f7d21'],
    },
  },
};

/** The extension of a response with the values of `code` that it may have. */
const CODES = 'x-codes';

/** Headers for accounts with a rate limit. A 401 has none, because its account is unknown. */
export const RATE_LIMIT_HEADERS = ['RateLimit-Policy', 'RateLimit'] as const;

/** Collects the components that the document refers to, and no others. */
export class Components {
  private readonly schemas = new Map<string, { of: Schema; json: Json }>();
  private readonly responses = new Map<string, Json>();
  private readonly headers = new Map<string, Json>();
  private readonly parameters = new Map<string, Json>();
  private readonly examples = new Map<string, Json>();

  constructor(private readonly errors: DescribedErrors) {}

  /** The schema, with references instead of named schemas. */
  schema(schema: Schema): Json {
    const base = baseOf(schema);
    if (base) {
      const { description, examples } = schema;
      return { ...this.schema(base), ...(description !== '' && { description }), examples };
    }
    const name = nameOf(schema);
    if (name === undefined) return this.plain(schema);
    const known = this.schemas.get(name);
    if (known && known.of !== schema) throw new Error(`two schemas are called ${name}`);
    if (!known) {
      const entry: { of: Schema; json: Json } = { of: schema, json: {} };
      this.schemas.set(name, entry);
      entry.json = this.plain(schema);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  parameter(name: keyof typeof PARAMETERS): Json {
    this.parameters.set(name, PARAMETERS[name]);
    return { $ref: `#/components/parameters/${name}` };
  }

  /** The headers of an answer, including `X-Request-Id`. */
  headersOf(names: readonly (AnswerHeader | HeaderName)[]): Json {
    return Object.fromEntries(
      (['X-Request-Id', ...names] as const).map((name) => {
        this.headers.set(name, HEADERS[name]);
        return [name, { $ref: `#/components/headers/${name}` }];
      }),
    );
  }

  /** Headers that not every such answer has. */
  optionalHeaders(names: readonly HeaderName[]): Json {
    return Object.fromEntries(names.map((name) => [name, { ...HEADERS[name], required: false }]));
  }

  /** The response for the errors of one status. */
  problem(codes: readonly string[]): Json {
    const { name, description, examples } = this.errors.answer(codes);
    if (!this.responses.has(name)) {
      this.responses.set(name, {
        description,
        headers: this.headersOfErrors(codes),
        // One schema for all errors: generators make a type of each.
        content: {
          'application/problem+json': {
            schema: this.schema(this.errors.problem),
            examples: Object.fromEntries(
              Object.entries(examples).map(([code, value]) => [code, this.example(code, value)]),
            ),
          },
        },
        [CODES]: codes,
      });
    }
    return { $ref: `#/components/responses/${name}` };
  }

  private example(code: string, value: unknown): Json {
    this.examples.set(code, { value });
    return { $ref: `#/components/examples/${code}` };
  }

  /** A header that only some errors of a status have is optional. */
  private headersOfErrors(codes: readonly string[]): Json {
    const names = new Set(codes.flatMap((code) => HEADER_OF[code] ?? []));
    const isSure = (name: HeaderName) => codes.every((code) => HEADER_OF[code] === name);
    const unsure = [...names].filter((name) => !isSure(name));
    const limits = codes.includes('unauthorized') ? [] : RATE_LIMIT_HEADERS;
    return {
      ...this.headersOf([...[...names].filter(isSure), ...limits]),
      ...this.optionalHeaders(unsure),
    };
  }

  toJSON(): Json {
    const schemas = [...this.schemas].map(([name, { json }]) => [name, json] as const);
    return {
      schemas: sorted(schemas),
      responses: sorted([...this.responses]),
      headers: sorted([...this.headers]),
      parameters: sorted([...this.parameters]),
      examples: sorted([...this.examples]),
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'Username and password, in UTF-8.' },
      },
    };
  }

  private plain(schema: Schema): Json {
    const { description, properties, items, additionalProperties, oneOf } = schema;
    return {
      ...schema,
      // The description of a parameter is beside its schema.
      description: description === '' ? undefined : description,
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, member]) => [name, this.schema(member)]),
        ),
      }),
      ...(items && { items: this.schema(items) }),
      ...(additionalProperties && { additionalProperties: this.schema(additionalProperties) }),
      ...(oneOf && { oneOf: oneOf.map((part) => this.schema(part)) }),
    };
  }
}

function header(description: string, schema: Schema, required = true): Json {
  return { description, required, schema: { ...schema, description: undefined } };
}

function sorted(entries: (readonly [string, Json])[]): Json {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}
