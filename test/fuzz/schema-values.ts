import fc from 'fast-check';
import type { JsonSchema } from '../support/described-api.js';
import { REFERENCES } from '../support/belongings.js';
import type { Rules } from './rules.js';

type Values = fc.Arbitrary<unknown>;

/** Any character but a surrogate. fast-check's own generators take seconds to build. */
export const CHARACTER = fc
  .integer({ min: 0, max: 0x10_ff_ff })
  .filter((code) => code < 0xd8_00 || code > 0xdf_ff)
  .map((code) => String.fromCodePoint(code));

/** Text in every script that JSON, UTF-8 and PostgreSQL preserve. */
const TEXT = fc.string({ unit: CHARACTER, minLength: 1 }).filter((text) => !text.includes('\0'));

/** Shallow values are enough to test nested schemas. */
const DEPTH = 3;

/** Values that a schema of the description allows, in principle all of them. */
export function valuesOf(schema: JsonSchema, rules: Rules, depth = DEPTH): Values {
  const plain = rules.resolve(schema);
  const isAllowed = rules.validatorOf(plain);
  return made(plain, rules, depth).filter((value) => isAllowed(value));
}

function made(schema: JsonSchema, rules: Rules, depth: number): Values {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.oneOf) return fc.oneof(...schema.oneOf.map((one) => valuesOf(one, rules, depth)));
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return fc.jsonValue({ maxDepth: 2 });
  const all = types.map((type) => ofType(type, schema, rules, depth));
  return all.length === 1 ? all[0]! : fc.oneof(...all);
}

function ofType(type: string, schema: JsonSchema, rules: Rules, depth: number): Values {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer(rangeOf(schema));
    case 'number':
      return fc.double({ ...rangeOf(schema), noNaN: true });
    case 'array':
      return arrays(schema, rules, depth);
    case 'object':
      return objects(schema, rules, depth);
    default:
      return strings(schema);
  }
}

function rangeOf({ minimum, maximum }: JsonSchema): { min: number; max: number } {
  return { min: Number(minimum ?? -(2 ** 31)), max: Number(maximum ?? 2 ** 31 - 1) };
}

function arrays(schema: JsonSchema, rules: Rules, depth: number): Values {
  const { items = {}, minItems = 0, maxItems = 4 } = schema;
  const maxLength = Math.min(Number(maxItems), Number(minItems) + 4);
  return fc.array(valuesOf(items, rules, depth - 1), { minLength: Number(minItems), maxLength });
}

function objects(schema: JsonSchema, rules: Rules, depth: number): Values {
  const { properties = {}, required = [] } = schema;
  if (depth === 0 || Object.keys(properties).length === 0) {
    return fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), {
      maxKeys: 4,
    });
  }
  const members = Object.entries(properties).map(
    ([name, member]) => [name, memberOf(name, member, rules, depth)] as const,
  );
  return fc.record(Object.fromEntries(members), { requiredKeys: required, noNullPrototype: true });
}

/** Stands for the still unknown id of a place; itself an id, so that schemas allow it. */
export const standInOf = (place: string): string =>
  `80000000000000000${String(10 + Object.values(REFERENCES).indexOf(place))}`;

/** A member usually names an existing resource, and sometimes anything that its schema allows. */
function memberOf(name: string, schema: JsonSchema, rules: Rules, depth: number): Values {
  const any = valuesOf(schema, rules, depth - 1);
  const place = REFERENCES[name];
  return place === undefined
    ? any
    : fc.oneof(
        { weight: 4, arbitrary: fc.constant(standInOf(place)) },
        { weight: 1, arbitrary: any },
      );
}

function strings(schema: JsonSchema): Values {
  const { pattern, format, examples = [], minLength = 0, maxLength = 64 } = schema;
  const isAddress = /^https?:/.test(String(examples[0]));
  const candidates: fc.WeightedArbitrary<unknown>[] = [];
  // Values from examples are accepted more often than random ones.
  if (examples.length > 0) candidates.push({ weight: 3, arbitrary: fc.constantFrom(...examples) });
  if (format === 'date-time') candidates.push({ weight: 3, arbitrary: TIMES });
  else if (format === 'uuid') candidates.push({ weight: 3, arbitrary: fc.uuid() });
  else if (typeof pattern === 'string') {
    if (isAddress) candidates.push({ weight: 3, arbitrary: ADDRESSES });
    const matching = fc.stringMatching(new RegExp(pattern, 'u'));
    candidates.push({ weight: isAddress ? 1 : 3, arbitrary: matching });
  } else {
    const rules = { unit: 'grapheme', minLength: Number(minLength), maxLength } as const;
    candidates.push({ weight: 2, arbitrary: TEXT }, { weight: 2, arbitrary: fc.string(rules) });
  }
  if (maxLength <= 300) {
    const longest = { unit: 'grapheme-ascii', minLength: maxLength, maxLength } as const;
    candidates.push({ weight: 1, arbitrary: fc.string(longest) });
  }
  return fc.oneof(...candidates);
}

const ADDRESSES = fc
  .record({
    url: fc.webUrl({ withQueryParameters: true, size: 'small' }),
    user: fc.constantFrom('', '', 'user:pass@', 'user@'),
    port: fc.constantFrom('', '', ':8080', ':443', ':65535'),
  })
  .map(({ url, user, port }) => url.replace(/^(https?:\/\/)([^/?#]+)/, `$1${user}$2${port}`));

/** All spellings of RFC 3339; in the past, because most of our times must be. */
const TIMES = fc
  .record({
    date: fc.date({
      min: new Date('1970-01-01'),
      max: new Date('2026-06-01'),
      noInvalidDate: true,
    }),
    offset: fc.constantFrom('Z', 'z', '+00:00', '-07:30', '+13:45'),
    fraction: fc.constantFrom('', '.1', '.123', '.123456789'),
    divider: fc.constantFrom('T', 't', ' '),
  })
  .map(({ date, offset, fraction, divider }) => {
    const [day, time] = date.toISOString().split('T') as [string, string];
    return `${day}${divider}${time.slice(0, 8)}${fraction}${offset}`;
  });
