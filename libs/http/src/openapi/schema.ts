/** A JSON Schema (draft 2020-12), as far as the description of the API uses it. */
export interface Schema {
  type?: string | readonly string[];
  description?: string;
  examples?: readonly unknown[];
  default?: unknown;
  const?: unknown;
  enum?: readonly unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  maxProperties?: number;
  propertyNames?: Schema;
  additionalProperties?: Schema;
  anyOf?: readonly Schema[];
  allOf?: readonly Schema[];
  $ref?: string;
}

const names = new WeakMap<Schema, string>();

/** Gives a schema a name: in the document it stands among the components, and is referred to. */
export function named(name: string, schema: Schema): Schema {
  names.set(schema, name);
  return schema;
}

/** The name that {@link named} gave, if any. */
export function nameOf(schema: Schema): string | undefined {
  return names.get(schema);
}

/** An object; all members are there, but for those that are said to be optional. */
export function object<Members extends Record<string, Schema>>(
  properties: Members,
  { optional = [] }: { optional?: readonly (keyof Members)[] } = {},
): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

/** An object of whatever members. */
export function anyObject(description: string, example: object): Schema {
  return { type: 'object', description, examples: [example], additionalProperties: {} };
}

/**
 * At least one of these members must be there. In an `allOf` and with their names: generators of
 * clients take an `anyOf` beside `properties` for another kind of value, which would be of any type.
 */
export function someOf(names: readonly string[]): Schema {
  const alternatives = names.map((name) => ({ properties: { [name]: {} }, required: [name] }));
  return { allOf: [{ anyOf: alternatives }] };
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

/** A choice of which each has a meaning of its own. */
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

/** An id of digits, as a string. */
export function numericId(description: string, example: string): Schema {
  return text(description, example, { pattern: '^(?:0|[1-9][0-9]{0,18})$' });
}

export function uuid(
  description: string,
  example = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95',
): Schema {
  return text(description, example, { format: 'uuid' });
}

/** An absolute address of ours that ends in `/v1/` and the path. */
export function href(description: string, path: string): Schema {
  return text(description, `https://api.example.com/v1/${path}`, { format: 'uri' });
}

/** What a POST or PUT answers: the address of what was made or changed. */
export const AddressSchema = named(
  'Address',
  object({ href: href('Its address, which can be fetched.', 'applications/5080983') }),
);

/** What a DELETE answers. */
export const DeletedSchema = named(
  'Deleted',
  object({ message: text('Always the same.', 'delete successful') }),
);

/** A pattern of a word in whatever case: JSON Schema knows no flag for it. */
export function inAnyCase(word: string): string {
  return word.replaceAll(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
}

/** A value that a schema describes, made of the examples of its parts. */
export function exampleOf(schema: Schema): unknown {
  if (schema.examples) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.properties) {
    const members = Object.entries(schema.properties);
    return Object.fromEntries(members.map(([name, member]) => [name, exampleOf(member)]));
  }
  if (schema.items) return [exampleOf(schema.items)];
  if (schema.anyOf?.[0]) return exampleOf(schema.anyOf[0]);
  throw new Error(`a schema has no example: ${JSON.stringify(schema)}`);
}
