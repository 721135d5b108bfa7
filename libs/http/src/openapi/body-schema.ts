import { fieldsOf, type FieldOptions, rulesOf } from '../field.js';
import { named, type Schema, someOf } from './schema.js';

/**
 * The schema of a body, from the members and rules of its DTO. The descriptions contain the wording of every
 * rule, because JSON Schema cannot express all of them, unless `about` has it.
 */
export function bodySchemaOf(dto: new () => object): Schema {
  const known = schemas.get(dto);
  if (known) return known;
  const fields = [...fieldsOf(dto)].sort(([a], [b]) => a.localeCompare(b));
  const required = fields.filter(([, { required: is }]) => is).map(([name]) => name);
  const alternatives = fields.flatMap(([name, { requiredUnless }]) =>
    requiredUnless === undefined ? [] : [name, requiredUnless],
  );
  const schema = named(dto.name.replace(/Dto$/, ''), {
    type: 'object',
    properties: Object.fromEntries(
      fields.map(([name, options]) => [name, fieldSchema(dto, name, options)]),
    ),
    ...(required.length > 0 && { required }),
    ...(alternatives.length > 0 && someOf(alternatives)),
  });
  schemas.set(dto, schema);
  return schema;
}

const schemas = new Map<object, Schema>();

function fieldSchema(dto: new () => object, name: string, options: FieldOptions): Schema {
  const rules = rulesOf(dto, name);
  const schema = rules.map((rule) => rule.schema).reduce(merge, {});
  const { about = '' } = options;
  const says = rules
    .filter(({ code, says }) => code !== 'type' && code !== 'required' && !about.includes(says))
    .map((rule) => sentence(rule.says));
  const description = [
    about,
    ...says,
    options.trim === true ? 'Surrounding white space is removed.' : '',
    options.requiredUnless === undefined
      ? ''
      : `Either this or \`${options.requiredUnless}\` is required.`,
    options.clearable === true ? 'On PUT, `null` clears it.' : '',
  ];
  return {
    ...schema,
    ...(options.clearable === true && { type: nullable(schema.type) }),
    description: description.filter((part) => part !== '').join(' '),
    ...(options.default !== undefined && { default: options.default }),
    ...(options.example !== undefined && { examples: [options.example] }),
  };
}

/** Merges two schemas; if they use the same keyword differently, the second goes into `allOf`. */
function merge(schema: Schema, more: Schema): Schema {
  const clashes = Object.keys(more).some(
    (key) => key in schema && schema[key as keyof Schema] !== more[key as keyof Schema],
  );
  return clashes ? { ...schema, allOf: [...(schema.allOf ?? []), more] } : { ...schema, ...more };
}

function nullable(type: Schema['type']): readonly string[] {
  return [...new Set([...[type ?? []].flat(), 'null'])];
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
