import type { AnswerHeader } from './describe.js';
import type { CommonCode, DescribedErrors } from './errors.js';
import { nameOf, type Schema, text } from './schema.js';

/** A part of the document. */
export type Json = Record<string, unknown>;

const REQUEST_ID = text(
  'Names the request in our log; `requestId` of an error is the same.',
  'f0b1c7de-6a0e-4c07-9d3f-2f7f5a2b9c11',
);

const HEADERS = {
  'X-Request-Id': header("The caller's own, if it is sane, else one of ours.", REQUEST_ID),
  ETag: header(
    'The version of what a client can write; goes into `If-Match`.',
    text('', '"3"', { pattern: '^"[0-9]+"$' }),
  ),
  Location: header(
    'The address of what was made.',
    text('', 'https://api.example.com/v1/applications/5080983', { format: 'uri' }),
  ),
  Link: header(
    'The next page, while there is more.',
    text('', '<https://api.example.com/v1/applications?limit=2&after=5080983>; rel="next"'),
    false,
  ),
  'Idempotency-Replayed': header(
    'Always `true`: an earlier request with the same `Idempotency-Key` made it.',
    { type: 'string', const: 'true' },
    false,
  ),
  'WWW-Authenticate': header(
    'How to authenticate.',
    text('', 'Basic realm="switchhook", charset="UTF-8"'),
  ),
  'Retry-After': header('Seconds after which to ask again.', {
    type: 'integer',
    minimum: 0,
    examples: [5],
  }),
  Allow: header('The methods that the path has.', text('', 'DELETE, GET, HEAD, PUT')),
  'RateLimit-Policy': header(
    'Where requests are limited, how many (`q`) an account may make in how many seconds (`w`); ' +
      'draft-ietf-httpapi-ratelimit-headers-11.',
    text('', '"account";q=600;w=60'),
    false,
  ),
  RateLimit: header(
    'Where requests are limited, how many the account may make now (`r`), and in how many seconds ' +
      'there is one more (`t`); draft-ietf-httpapi-ratelimit-headers-11.',
    text('', '"account";r=599;t=1'),
    false,
  ),
} satisfies Record<string, Json>;

type HeaderName = keyof typeof HEADERS;

/** The headers that an error brings along. */
const HEADER_OF: Partial<Record<string, HeaderName>> = {
  unauthorized: 'WWW-Authenticate',
  rate_limited: 'Retry-After',
  unavailable: 'Retry-After',
  idempotency_key_in_use: 'Retry-After',
  method_not_allowed: 'Allow',
} satisfies Partial<Record<CommonCode, HeaderName>>;

const PARAMETERS: Record<'RequestId' | 'IfMatch' | 'IdempotencyKey', Json> = {
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description: 'A name for the request, for both our logs.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._:@/+=-]{1,128}$', examples: ['order-4711'] },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The `ETag` that the request was made for; another version is not touched (412). ' +
      'Several with commas between, or `*` for any.',
    schema: { type: 'string', examples: ['*'] },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Names the request, such as a UUID of its own. Within 24 hours a repeat with the same body ' +
      'gets the same answer and makes nothing more.',
    schema: {
      type: 'string',
      pattern: '^[!-~]{1,255}$',
      examples: ['0b2f6c1e-5d0a-4d3c-9a55-8e4f0c6f7d21'],
    },
  },
};

/** Of an account whose requests are limited; whose it is, is known on all answers but 401. */
export const RATE_LIMIT_HEADERS = ['RateLimit-Policy', 'RateLimit'] as const;

/** Gathers what the document refers to: a component is there exactly when something needs it. */
export class Components {
  private readonly schemas = new Map<string, { of: Schema; json: Json }>();
  private readonly responses = new Map<string, Json>();
  private readonly headers = new Map<string, Json>();
  private readonly parameters = new Map<string, Json>();

  constructor(private readonly errors: DescribedErrors) {}

  /** The schema, with references in place of those that have a name. */
  schema(schema: Schema): Json {
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

  /** Headers of an answer, `X-Request-Id` among them. */
  headersOf(names: readonly (AnswerHeader | HeaderName)[]): Json {
    return Object.fromEntries(
      (['X-Request-Id', ...names] as const).map((name) => {
        this.headers.set(name, HEADERS[name]);
        return [name, { $ref: `#/components/headers/${name}` }];
      }),
    );
  }

  /** The answer to the errors of one status. */
  problem(codes: readonly string[]): Json {
    const { name, description, schema, examples } = this.errors.answer(codes);
    if (!this.responses.has(name)) {
      this.responses.set(name, {
        description,
        headers: this.headersOfErrors(codes),
        content: {
          'application/problem+json': {
            // Not beside the reference, where generators of clients do not look.
            schema: { allOf: [this.schema(this.errors.problem), schema] },
            examples,
          },
        },
      });
    }
    return { $ref: `#/components/responses/${name}` };
  }

  /** A header that only some of the errors of a status bring along need not be there. */
  private headersOfErrors(codes: readonly string[]): Json {
    const names = new Set(codes.flatMap((code) => HEADER_OF[code] ?? []));
    const isSure = (name: HeaderName) => codes.every((code) => HEADER_OF[code] === name);
    const unsure = [...names].filter((name) => !isSure(name));
    const optional = unsure.map((name) => [name, { ...HEADERS[name], required: false }] as const);
    const limits = codes.includes('unauthorized') ? [] : RATE_LIMIT_HEADERS;
    return {
      ...this.headersOf([...[...names].filter(isSure), ...limits]),
      ...Object.fromEntries<Json>(optional),
    };
  }

  toJSON(): Json {
    const schemas = [...this.schemas].map(([name, { json }]) => [name, json] as const);
    return {
      schemas: sorted(schemas),
      responses: sorted([...this.responses]),
      headers: sorted([...this.headers]),
      parameters: sorted([...this.parameters]),
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'Username and password, in UTF-8.' },
      },
    };
  }

  private plain(schema: Schema): Json {
    const { description, properties, items, additionalProperties, anyOf, allOf } = schema;
    return {
      ...schema,
      // That of a parameter stands beside its schema.
      description: description === '' ? undefined : description,
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, member]) => [name, this.schema(member)]),
        ),
      }),
      ...(items && { items: this.schema(items) }),
      ...(additionalProperties && { additionalProperties: this.schema(additionalProperties) }),
      ...(anyOf && { anyOf: anyOf.map((part) => this.schema(part)) }),
      ...(allOf && { allOf: allOf.map((part) => this.schema(part)) }),
    };
  }
}

function header(description: string, schema: Schema, required = true): Json {
  return { description, required, schema: { ...schema, description: undefined } };
}

function sorted(entries: (readonly [string, Json])[]): Json {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}
