import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** The parts of an OpenAPI document that tests read. */
export interface ApiDocument {
  paths: Record<string, Record<string, ApiOperation>>;
  components: ApiComponents;
  'x-answers-elsewhere': Record<string, Described>;
}

export interface ApiComponents {
  schemas: Record<string, JsonSchema>;
  [kind: string]: Record<string, unknown>;
}

export interface ApiOperation {
  operationId: string;
  description?: string;
  parameters?: ApiParameter[];
  requestBody?: {
    required: boolean;
    description?: string;
    content: Record<string, DescribedBody>;
  };
  responses: Record<string, Described>;
  /** The roles that it is for, if it is not for customers and operators. */
  'x-roles'?: string[];
}

export interface DescribedBody {
  schema: JsonSchema;
  examples: Record<string, { value: object }>;
}

export interface ApiParameter {
  $ref?: string;
  name: string;
  in: string;
  description?: string;
  schema: JsonSchema;
}

/** An answer or a header, or a reference to it. */
interface Described {
  $ref?: string;
  required?: boolean;
  headers?: Record<string, Described>;
  content?: Record<string, { schema?: JsonSchema; example?: unknown }>;
  /** The error codes that the operation may answer with. */
  'x-codes'?: string[];
}

export interface JsonSchema {
  [keyword: string]: unknown;
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  additionalProperties?: JsonSchema;
  oneOf?: JsonSchema[];
  enum?: unknown[];
  examples?: unknown[];
  description?: string;
  maxLength?: number;
}

/** The parts of an answer that the description covers. */
export interface DescribableAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** An operation of the document, and its location. */
export interface DescribedOperation {
  method: string;
  /** With `{name}` for each parameter. */
  path: string;
  operation: ApiOperation;
}

const METHODS = ['get', 'post', 'put', 'delete'];

/** Headers that an answer must not have unless they are described. */
const TELLING_HEADERS = [
  ...['etag', 'link', 'location', 'retry-after', 'www-authenticate', 'allow'],
  ...['ratelimit', 'ratelimit-policy', 'idempotency-replayed'],
];

/** Ajv's key of the document. */
export const ROOT = 'api';

/** The document with references into Ajv's copy, so that referenced schemas are compiled only once. */
export function rooted<Part extends object>(part: Part): Part {
  return JSON.parse(
    JSON.stringify(part).replaceAll('"#/components/', `"${ROOT}#/components/`),
  ) as Part;
}

/** An API and its description. */
export class DescribedApi {
  private readonly paths: { template: string; pattern: RegExp }[];
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(readonly document: ApiDocument) {
    addFormats.default(this.ajv);
    this.ajv.addSchema({ $id: ROOT, components: rooted(closed(document.components)) });
    this.paths = Object.keys(document.paths)
      .map((template) => ({ template, pattern: patternOf(template) }))
      // `/v1/events/batch` before `/v1/events/{id}`
      .sort((a, b) => a.template.split('{').length - b.template.split('{').length);
  }

  /** Every operation of the document. */
  get operations(): DescribedOperation[] {
    return Object.entries(this.document.paths).flatMap(([path, item]) =>
      METHODS.flatMap((method) => {
        const operation = item[method];
        return operation ? [{ method: method.toUpperCase(), path, operation }] : [];
      }),
    );
  }

  /** All parameters of an operation, including those of its path item. */
  parametersOf({ path, operation }: DescribedOperation, place: string): ApiParameter[] {
    const shared = (this.document.paths[path]?.['parameters'] ?? []) as unknown as ApiParameter[];
    return [...shared, ...(operation.parameters ?? [])]
      .map((parameter) => this.resolve(parameter))
      .filter((parameter) => parameter.in === place);
  }

  /** Whether an operation may be refused with this code. */
  mayRefuseWith({ operation }: DescribedOperation, code: string): boolean {
    return Object.values(operation.responses).some((response) => {
      return this.resolve(response)['x-codes']?.includes(code);
    });
  }

  /** Whether it is for users of the role `platform`, and not for customers. */
  isForPlatform({ operation }: DescribedOperation): boolean {
    return operation['x-roles'] !== undefined;
  }

  /** Whether the answer is endless, until the client leaves. */
  isEndless({ operation }: DescribedOperation): boolean {
    const { content = {} } = this.resolve(operation.responses[200] ?? {});
    return 'text/event-stream' in content;
  }

  /** The body of an operation, if it has one. */
  bodyOf({ operation }: DescribedOperation): DescribedBody | undefined {
    return operation.requestBody?.content['application/json'];
  }

  /** The differences between an answer and its description; empty if there are none. */
  faultsOf(method: string, path: string, answer: DescribableAnswer): string[] {
    const operation = this.operationOf(method, path);
    const where = operation?.operationId ?? 'elsewhere';
    const answers = operation?.responses ?? this.document['x-answers-elsewhere'];
    const described = answers[answer.status];
    if (!described) return [`${where}: status ${answer.status} is not described`];
    const { headers = {}, content = {} } = this.resolve(described);
    const faults = this.headerFaults(headers, answer);
    const codes = this.resolve(described)['x-codes'];
    const type = String(answer.headers['content-type']).split(';', 1)[0] ?? '';
    const media = content[type];
    if (!media) faults.push(`Content-Type ${type} is not described`);
    else if (media.schema && method !== 'HEAD') {
      const validate = this.validatorOf(`${where} ${answer.status}`, media.schema);
      if (!validate(JSON.parse(answer.text))) {
        faults.push(this.ajv.errorsText(validate.errors, { dataVar: 'body' }));
      }
      const { code, status } = JSON.parse(answer.text) as { code?: string; status?: number };
      if (codes && !codes.includes(code ?? '')) faults.push(`code ${code} is not described`);
      if (codes && status !== answer.status) faults.push(`the body has the status ${status}`);
    }
    return faults.map((fault) => `${where} ${answer.status}: ${fault}`);
  }

  /** The operation of a path, if one is described. */
  operationOf(method: string, path: string): ApiOperation | undefined {
    const name = method === 'HEAD' ? 'get' : method.toLowerCase();
    const known = this.paths.find(({ pattern }) => pattern.test(path));
    return known && this.document.paths[known.template]?.[name];
  }

  /** The target of a reference; any other value itself. */
  resolve<Part extends { $ref?: string }>(part: Part): Part {
    if (part.$ref === undefined) return part;
    const [, , kind = '', name = ''] = part.$ref.split('/');
    return this.document.components[kind]?.[name] as Part;
  }

  private headerFaults(
    described: Record<string, Described>,
    { headers }: DescribableAnswer,
  ): string[] {
    const known = Object.keys(described).map((name) => name.toLowerCase());
    const missing = Object.entries(described).filter(
      ([name, header]) =>
        this.resolve(header).required === true && headers[name.toLowerCase()] === undefined,
    );
    const more = TELLING_HEADERS.filter((name) => name in headers && !known.includes(name));
    return [
      ...missing.map(([name]) => `header ${name} is missing`),
      ...more.map((name) => `header ${name} is not described`),
    ];
  }

  private validatorOf(key: string, schema: JsonSchema): ValidateFunction {
    const known = this.validators.get(key);
    if (known) return known;
    const made = this.ajv.compile(rooted(schema));
    this.validators.set(key, made);
    return made;
  }
}

/** The parameters of a path, each with its place: the names of the collections before it. */
export function placesOf(path: string): { name: string; place: string }[] {
  const segments = path.split('/').slice(2);
  return segments.flatMap((segment, index) => {
    const [, name] = /^\{(\w+)\}$/.exec(segment) ?? [];
    if (name === undefined) return [];
    const before = segments.slice(0, index).filter((part) => !part.startsWith('{'));
    return [{ name, place: before.join('/') }];
  });
}

function patternOf(template: string): RegExp {
  const literal = template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${literal}/?$`);
}

/** Clients must tolerate new fields, but tests require that each field is described. */
function closed(components: ApiComponents): ApiComponents {
  const close = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(close);
    if (typeof schema !== 'object' || schema === null) return schema;
    const parts = Object.fromEntries(
      Object.entries(schema).map(([key, part]) => [key, key === 'examples' ? part : close(part)]),
    );
    const isObject = parts['type'] === 'object' && 'properties' in parts;
    return isObject ? { ...parts, additionalProperties: false } : parts;
  };
  return { ...components, schemas: close(components.schemas) as Record<string, JsonSchema> };
}
