import { type FieldDescription, fieldsOf, takesEmptyArray } from '../field.js';
import {
  EMPTY_ARRAY,
  named,
  nameOf,
  NULL_IS_ABSENT,
  nullable,
  type Schema,
  use,
} from './schema.js';

/**
 * The schema of a body, from the fields of its DTO. The descriptions contain the wording of every
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
      fields.map(([name, field]) => [name, fieldSchema(field, nullIsAbsent)]),
    ),
    ...(required.length > 0 && { required }),
  });
  schemas.set(dto, schema);
  return schema;
}

const schemas = new Map<object, Schema>();

function fieldSchema(field: FieldDescription, nullIsAbsent: boolean): Schema {
  const { schema, about = '', wording } = field;
  const isNamed = nameOf(schema) !== undefined;
  const description = [
    about,
    isNamed ? '' : (schema.description ?? ''),
    ...wording.filter((says) => !about.includes(says)).map((says) => sentence(says)),
    field.trim === true ? 'Surrounding white space is removed.' : '',
    takesEmptyArray(field) ? EMPTY_ARRAY : '',
    field.requiredUnless === undefined
      ? ''
      : `Either this or \`${field.requiredUnless}\` is required.`,
    field.clearable === true && !nullIsAbsent ? '`null` clears it.' : '',
  ];
  const shown = {
    description: description.filter((part) => part !== '').join(' '),
    ...(field.example !== undefined && { examples: [field.example] }),
  };
  if (isNamed) return use(schema, shown);
  const isNullable = nullIsAbsent ? field.required !== true : field.clearable === true;
  return {
    // An enumeration with null among its values is what generators trip over.
    ...(isNullable && !schema.enum ? nullable(schema) : schema),
    ...shown,
    ...(field.default !== undefined && { default: field.default }),
  };
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
