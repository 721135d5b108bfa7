import { fieldsOf, type FieldOptions, isObjectField, rulesOf } from '../field.js';
import { named, nameOf, NULL_IS_ABSENT, nullable, type Schema, use } from './schema.js';

/**
 * The schema of a body, from the members and rules of its DTO. The descriptions contain the wording of every
 * rule, because JSON Schema cannot express all of them, unless `about` has it. That at least one of two members
 * is required is only in words, because client generators misread an `anyOf` beside `properties`.
 * @param nullIsAbsent whether `null` means "not given", as on POST
 */
export function bodySchemaOf(dto: new () => object, nullIsAbsent: boolean): Schema {
  const known = schemas.get(dto);
  if (known) return known;
  const fields = [...fieldsOf(dto)].sort(([a], [b]) => a.localeCompare(b));
  const required = fields.filter(([, { required: is }]) => is).map(([name]) => name);
  const schema = named(dto.name.replace(/Dto$/, ''), {
    type: 'object',
    ...(nullIsAbsent && { description: NULL_IS_ABSENT }),
    properties: Object.fromEntries(
      fields.map(([name, options]) => [name, fieldSchema(dto, name, options, nullIsAbsent)]),
    ),
    ...(required.length > 0 && { required }),
  });
  schemas.set(dto, schema);
  return schema;
}

const schemas = new Map<object, Schema>();

function fieldSchema(
  dto: new () => object,
  name: string,
  options: FieldOptions,
  nullIsAbsent: boolean,
): Schema {
  const rules = rulesOf(dto, name);
  const schema = Object.assign({}, ...rules.map((rule) => rule.schema)) as Schema;
  const base = rules.map((rule) => rule.schema).find((part) => nameOf(part) !== undefined);
  const { about = '' } = options;
  const says = rules
    .filter(({ code, says }) => code !== 'type' && code !== 'required' && !about.includes(says))
    .map((rule) => sentence(rule.says));
  const description = [
    about,
    base ? '' : (schema.description ?? ''),
    ...says,
    options.trim === true ? 'Surrounding white space is removed.' : '',
    isObjectField(dto, name) ? 'An empty array counts as an empty object.' : '',
    options.requiredUnless === undefined
      ? ''
      : `Either this or \`${options.requiredUnless}\` is required.`,
    options.clearable === true && !nullIsAbsent ? '`null` clears it.' : '',
  ];
  const shown = {
    description: description.filter((part) => part !== '').join(' '),
    ...(options.example !== undefined && { examples: [options.example] }),
  };
  if (base) return use(base, shown);
  const isNullable = nullIsAbsent ? options.required !== true : options.clearable === true;
  return {
    // An enumeration with null among its values is what generators trip over.
    ...(isNullable && !schema.enum ? nullable(schema) : schema),
    ...shown,
    ...(options.default !== undefined && { default: options.default }),
  };
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
