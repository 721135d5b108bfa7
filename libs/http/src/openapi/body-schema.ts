import { type FieldDescription, fieldsOf } from '#libs/kernel';
import {
  EMPTY_ARRAY,
  named,
  nameOf,
  NULL_IS_ABSENT,
  nullable,
  type Schema,
  use,
} from './schema.js';

/** What a DTO refuses of the members that it does not have; others are ignored. */
export interface Refusing {
  /** Their names, if a request means more without them. */
  readonly refused?: readonly string[];
  /** All of them, because a request that was meant otherwise destroys or grants something. */
  readonly refusesUnknown?: boolean;
}

const REFUSES_UNKNOWN = 'Unknown members are refused, with or without `Prefer: handling=strict`.';

/**
 * The schema of a body, from the fields of its DTO. The descriptions contain the wording of every
 * rule, because JSON Schema cannot express all of them, unless `about` has it. That at least one of two members
 * is required is only in words, because client generators misread an `anyOf` beside `properties`.
 * @param isNew as on POST, where `null` means "not given"
 */
export function bodySchemaOf(dto: (new () => object) & Refusing, isNew: boolean): Schema {
  const known = schemas.get(dto);
  if (known) return known;
  const fields = [...fieldsOf(dto)].sort((a, b) => a.name.localeCompare(b.name));
  const required = fields.filter((field) => isNew && field.required).map(({ name }) => name);
  const description = [
    isNew ? NULL_IS_ABSENT : '',
    dto.refusesUnknown === true ? REFUSES_UNKNOWN : '',
  ];
  const schema = named(dto.name.replace(/Dto$/, ''), {
    type: 'object',
    description: description.filter((part) => part !== '').join(' '),
    properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field, isNew)])),
    ...(required.length > 0 && { required }),
  });
  schemas.set(dto, schema);
  return schema;
}

const schemas = new Map<object, Schema>();

function fieldSchema(field: FieldDescription, isNew: boolean): Schema {
  const { about = '' } = field;
  const { schema, wording } = field.validator;
  const isNamed = nameOf(schema) !== undefined;
  const description = [
    about,
    (isNew ? field.aboutNew : field.aboutChange) ?? '',
    isNamed ? '' : (schema.description ?? ''),
    ...wording.filter((says) => !about.includes(says)).map((says) => sentence(says)),
    field.trim === true ? 'Surrounding white space is removed.' : '',
    takesEmptyArray(field) ? EMPTY_ARRAY : '',
    isNew && field.requiredUnless !== undefined
      ? `Either this or \`${field.requiredUnless}\` is required.`
      : '',
    field.clearsTo !== undefined && !isNew ? '`null` clears it.' : '',
  ];
  const shown = {
    description: description.filter((part) => part !== '').join(' '),
    ...(field.example !== undefined && { examples: [field.example] }),
  };
  if (isNamed) return use(schema, shown);
  const isNullable = isNew ? field.required !== true : field.clearsTo !== undefined;
  return {
    // An enumeration with null among its values is what generators trip over.
    ...(isNullable && !schema.enum ? nullable(schema) : schema),
    ...shown,
    ...(field.default !== undefined && { default: field.default }),
  };
}

/** Whether a member must be an object, as which an empty array counts. */
export function takesEmptyArray({ validator }: FieldDescription): boolean {
  return validator.schema.type === 'object';
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
