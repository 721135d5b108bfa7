import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import {
  type DescribedApi,
  type DescribedOperation,
  type JsonSchema,
  ROOT,
  rooted,
} from '../support/described-api.js';

/** The description's rules for requests, as far as a program can check them. */
export class Rules {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });
  private readonly validators = new WeakMap<JsonSchema, ValidateFunction>();
  private readonly outer = new WeakMap<JsonSchema, JsonSchema>();

  constructor(readonly api: DescribedApi) {
    addFormats.default(this.ajv);
    this.ajv.addSchema({ $id: ROOT, components: rooted(api.document.components) });
  }

  resolve(schema: JsonSchema): JsonSchema {
    return this.api.resolve(schema);
  }

  /** Whether a value matches a schema. */
  validatorOf(schema: JsonSchema): (value: unknown) => boolean {
    let validate = this.validators.get(schema);
    if (!validate) {
      validate = this.ajv.compile(rooted(schema));
      this.validators.set(schema, validate);
    }
    return validate;
  }

  /**
   * The description's objection to a JSON body, undefined if there is none. Elements of a batch are skipped: each is
   * judged on its own.
   */
  faultOfBody(one: DescribedOperation, text: string): string | undefined {
    const body = this.api.bodyOf(one);
    if (!body) return undefined;
    if (text === '' && one.operation.requestBody?.required === false) return undefined;
    const [, most] =
      /^At most (\d+) bytes/.exec(one.operation.requestBody?.description ?? '') ?? [];
    if (Buffer.byteLength(text) > Number(most)) return 'the body is too long';
    let value: unknown;
    try {
      value = JSON.parse(text.replace(/^\ufeff/, ''));
    } catch {
      return 'the body is no JSON';
    }
    const schema = this.outerOf(one, this.resolve(body.schema));
    const isAllowed = this.allows(schema, value, one.method === 'POST');
    return isAllowed ? undefined : 'the body is not as its schema says';
  }

  /** Whether a schema allows an object of a body, as the API reads it. */
  allows(schema: JsonSchema, value: unknown, nullIsAbsent: boolean): boolean {
    return this.validatorOf(schema)(asRead(value, schema, nullIsAbsent));
  }

  /** The schema of the elements of a member. */
  elementsOf(one: DescribedOperation, name: string): JsonSchema {
    const { properties } = this.resolve(this.api.bodyOf(one)!.schema);
    return this.resolve(properties![name]!.items!);
  }

  /** The description of a field: a query parameter, a member, or the target of a pointer. */
  descriptionOf(one: DescribedOperation, field: string): string {
    return (this.parameterOf(one, field) ?? this.schemaOf(one, field))?.description ?? '';
  }

  private parameterOf(one: DescribedOperation, field: string) {
    const parameters = ['query', 'header', 'path'].flatMap((place) =>
      this.api.parametersOf(one, place),
    );
    return parameters.find(({ name }) => name === field);
  }

  /** The schema of a member of the body, or of the target of a pointer in it. */
  schemaOf(one: DescribedOperation, field: string): JsonSchema | undefined {
    const body = this.api.bodyOf(one);
    const names = field.split('/').filter((name) => name !== '');
    let schema: JsonSchema | undefined = body && this.resolve(body.schema);
    for (const name of names) {
      const whole: JsonSchema | undefined =
        schema?.oneOf?.find(({ type }) => type === 'object') ?? schema;
      const inner: JsonSchema | undefined =
        (/^\d+$/.test(name) ? whole?.items : undefined) ??
        whole?.properties?.[name] ??
        whole?.additionalProperties ??
        // Its description is about everything inside.
        (isAnything(whole) ? whole : undefined);
      schema = inner && this.resolve(inner);
    }
    return schema;
  }

  private outerOf(one: DescribedOperation, schema: JsonSchema): JsonSchema {
    if (!one.path.endsWith('/batch')) return schema;
    let outer = this.outer.get(schema);
    if (!outer) {
      const properties = Object.entries(schema.properties ?? {}).map(([name, member]) => [
        name,
        { ...member, items: {} },
      ]);
      outer = {
        ...schema,
        properties: Object.fromEntries(properties) as Record<string, JsonSchema>,
      };
      this.outer.set(schema, outer);
    }
    return outer;
  }

  /** The description's objection to a parameter in a path, query or header. */
  faultOfParameter(schema: JsonSchema, text: string): string | undefined {
    const plain = this.resolve(schema);
    return this.validatorOf(plain)(valueIn(text, plain)) ? undefined : `${text} is not allowed`;
  }
}

/** Whether a schema without rules allows any value. */
function isAnything(schema: JsonSchema | undefined): boolean {
  return schema !== undefined && Object.keys(schema).join() === 'description';
}

/**
 * An object as the API reads it by the description's words: on POST `null` counts as absent; where the description
 * says so, surrounding white space is removed, an empty array stands for an empty object, and an integer for its
 * digits.
 */
function asRead(value: unknown, { properties = {} }: JsonSchema, nullIsAbsent: boolean): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    if (member === null && nullIsAbsent) return [];
    const { description = '' } = properties[name] ?? {};
    const isTrimmed = /Surrounding white space is removed/.test(description);
    if (isTrimmed && typeof member === 'string') return [[name, member.trim()]];
    const isEmpty = Array.isArray(member) && member.length === 0;
    if (isEmpty && /An empty array counts as an empty object/.test(description))
      return [[name, {}]];
    const isInteger = /An integer is accepted, too/.test(description) && Number.isInteger(member);
    return [[name, isInteger ? String(member) : member]];
  });
  return Object.fromEntries(members);
}

function valueIn(text: string, { type }: JsonSchema): unknown {
  if (type === 'integer') return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  if (type === 'boolean') return text === 'true' || (text === 'false' ? false : text);
  return text;
}
