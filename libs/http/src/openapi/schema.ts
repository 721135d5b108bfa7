import type { Schema } from '#libs/kernel';

export type { Schema };

const names = new WeakMap<Schema, string>();

/** Names a schema. In the document, a named schema is a component that others refer to. */
export function named(name: string, schema: Schema): Schema {
  names.set(schema, name);
  return schema;
}

/** The name that {@link named} gave, if any. */
export function nameOf(schema: Schema): string | undefined {
  return names.get(schema);
}

const shared = new WeakMap<Schema, Schema>();

/** A named schema under another description. In the document, it refers to the component. */
export function use(base: Schema, about: Pick<Schema, 'description' | 'examples'>): Schema {
  const used = { ...base, ...about };
  shared.set(used, base);
  return used;
}

/** The schema that {@link use} was given, if any. */
export function baseOf(schema: Schema): Schema | undefined {
  return shared.get(schema);
}

/** The description of the body of a POST. */
export const NULL_IS_ABSENT = '`null` counts as absent.';

/** In the description of an object in a body. */
export const EMPTY_ARRAY = 'An empty array counts as an empty object.';

/**
 * The same schema, or `null`. An object is an alternative of its own: with `null` in its `type`, some generated
 * clients send `{}` for a member that was not set, which erases what is stored.
 */
export function nullable({ description, examples, ...rules }: Schema): Schema {
  const about = {
    ...(description !== undefined && { description }),
    ...(examples && { examples }),
  };
  if (rules.type === 'object') return { oneOf: [rules, { type: 'null' }], ...about };
  return { ...rules, type: [...new Set([...[rules.type ?? []].flat(), 'null'])], ...about };
}

/** A member that an object may lack. */
export interface Optional {
  optional: Schema;
}

export function optional(schema: Schema): Optional {
  return { optional: schema };
}

/** A member of an object: its schema, or something that has one. */
type Member = Schema | Optional | { schema: Schema | Optional };

/** An object whose members are required unless {@link optional}. */
export function object(members: Readonly<Record<string, Member>>): Schema {
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const [name, member] of Object.entries(members)) {
    const of = 'schema' in member ? member.schema : member;
    if (!('optional' in of)) required.push(name);
    properties[name] = 'optional' in of ? of.optional : of;
  }
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

/** An object with any members. */
export function anyObject(description: string, example: object): Schema {
  return { type: 'object', description, examples: [example], additionalProperties: {} };
}

export function arrayOf(items: Schema): Schema {
  return { type: 'array', items };
}

export function text(description: string, example: string, rules: Schema = {}): Schema {
  return { type: 'string', description, examples: [example], ...rules };
}

export function integer(description: string, example: number): Schema {
  return { type: 'integer', description, examples: [example], minimum: 0 };
}

export function flag(description: string, example: boolean): Schema {
  return { type: 'boolean', description, examples: [example] };
}

export function choice(description: string, choices: readonly string[], example = choices[0]) {
  return { type: 'string', description, enum: choices, examples: [example] } satisfies Schema;
}

/** A choice with a description of each value. */
export function meanings<Word extends string>(
  description: string,
  words: Readonly<Record<Word, string>>,
  example: Word,
): Schema {
  const list = Object.entries<string>(words).map(([word, means]) => `- \`${word}\`: ${means}`);
  return choice([description, '', ...list].join('\n'), Object.keys(words), example);
}

export function time(description: string, example = '2026-01-31T12:00:00.000Z'): Schema {
  return text(description, example, { format: 'date-time' });
}

/** The id of an account as an integer, which clients of the specification's API expect. */
export function accountNumber(description: string): Schema {
  return { ...integer(description, 83346), format: 'int64' };
}

/** A numeric id, as a string. */
export function numericId(description: string, example: string): Schema {
  return text(description, example, { pattern: '^(?:0|[1-9][0-9]{0,18})$' });
}

export function uuid(
  description: string,
  example = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95',
): Schema {
  return text(description, example, { format: 'uuid' });
}

/** An absolute address of this service: `/v1/` and the path. */
export function href(description: string, path: string): Schema {
  return text(description, `https://api.example.com/v1/${path}`, { format: 'uri' });
}

/** The answer to a POST or PUT: the address of the created or changed resource. */
export const AddressSchema = named(
  'Address',
  object({ href: href('The URL of the resource.', 'applications/5080983') }),
);

/** The answer to a DELETE. */
export const DeletedSchema = named(
  'Deleted',
  object({ message: text('Always `delete successful`.', 'delete successful') }),
);

/** An example of a schema, built from the examples of its parts. */
export function exampleOf(schema: Schema): unknown {
  if (schema.examples) return schema.examples[0];
  if (schema.enum) return schema.enum[0];
  if (schema.properties) {
    const members = Object.entries(schema.properties);
    return Object.fromEntries(members.map(([name, member]) => [name, exampleOf(member)]));
  }
  if (schema.items) return [exampleOf(schema.items)];
  if (schema.oneOf?.[0]) return exampleOf(schema.oneOf[0]);
  throw new Error(`a schema has no example: ${JSON.stringify(schema)}`);
}
