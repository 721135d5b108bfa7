import fc from 'fast-check';

/** A body on the wire: a text, perhaps with invalid UTF-8 inserted. */
export interface SentBody {
  text: string;
  hasBrokenBytes?: boolean;
  /** It may exceed the process's limit, which no schema expresses. */
  isBeyondLimits?: boolean;
}

export const sent = (value: unknown): SentBody => ({ text: JSON.stringify(value) });

const WRONG: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, -0, 2 ** 53, 9_223_372_036_854_775_808],
  ...['', ' ', 'x', '0', '-1', 'true', 'null', 'x'.repeat(3_000), '😀'.repeat(300), '\ud800'],
  ...['a\u0000b', '\udc00x', '__proto__', 'http://', 'http://h/#f', '***', 'call,,sms', '\ufeff'],
  ...['2026-02-30T00:00:00Z', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59-23:59', '\u0085'],
  ...[
    [],
    {},
    [[]],
    [null],
    ['x'],
    { a: 1 },
    { toString: 1 },
    Array.from({ length: 1_001 }, () => 0),
  ],
];

const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'id',
  'href',
  'userId',
  'unknown',
  '',
  '\u0000',
];

type Path = (string | number)[];

/** The paths of all values in a JSON value, including the whole. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Object.entries(value).flatMap(([name, member]) => pathsIn(member, [...path, name]));
  return [path, ...inner];
}

/** A copy in which the value at a path is replaced or removed. */
function changed(
  value: unknown,
  [first, ...rest]: Path,
  change: (old: unknown) => unknown,
): unknown {
  if (first === undefined) return change(value);
  if (Array.isArray(value)) {
    return value.map((one: unknown, at) =>
      at === Number(first) ? changed(one, rest, change) : one,
    );
  }
  const members = Object.entries(value as object).map(([name, member]: [string, unknown]) => [
    name,
    name === first ? changed(member, rest, change) : member,
  ]);
  return Object.fromEntries(members) as unknown;
}

const changes = fc.oneof(
  fc.constantFrom(...WRONG).map((wrong) => () => wrong),
  fc.constant(() => undefined),
  fc.tuple(fc.constantFrom(...NAMES), fc.jsonValue({ maxDepth: 1 })).map(
    ([name, extra]) =>
      (old: unknown) =>
        typeof old === 'object' && old !== null && !Array.isArray(old)
          ? Object.fromEntries([...Object.entries(old), [name, extra]])
          : [old],
  ),
  fc
    .integer({ min: 1, max: 600 })
    .map((times) => (old: unknown) => (typeof old === 'string' ? old.repeat(times) : [old, old])),
);

const DEEP = '['.repeat(3_000) + ']'.repeat(3_000);

/** Mutations of the JSON text of a value. */
const TEXTS: readonly ((text: string) => SentBody)[] = [
  (text) => ({ text: text.slice(0, -1) }),
  (text) => ({ text: `${text}x` }),
  (text) => ({ text: `\ufeff${text}` }),
  (text) => ({ text: ` \r\n\t${text.replaceAll(',"', ' ,\n"')} ` }),
  (text) => ({ text: text.replace('{"', '{"id":"\\u0000","') }),
  (text) => ({ text: text.replace(/"(\w)(\w*)":/, twice) }),
  (text) => ({ text: text.replaceAll('"', "'") }),
  (text) => ({ text: text.replace(/:[^,}]*/, ':NaN') }),
  (text) => ({ text: text.replace(/:[^,}]*/, ':1e999') }),
  (text) => ({ text: text.replace(/:[^,}]*/, `:${DEEP}`), isBeyondLimits: true }),
  (text) => ({ text: text.replace('{', '{"__proto__":{"role":"platform"},') }),
  (text) => ({ text, hasBrokenBytes: true }),
  () => ({ text: '' }),
  () => ({ text: '[]' }),
  () => ({ text: '"x"' }),
];

/** A repeated member, the second time with an escaped name. */
function twice(member: string, first: string, rest: string): string {
  const code = first.charCodeAt(0).toString(16).padStart(4, '0');
  return `${member}null,"\\u${code}${rest}":`;
}

/** Valid bodies after a mutation. */
export function mutatedBodies(bodies: fc.Arbitrary<unknown>): fc.Arbitrary<SentBody> {
  const values = fc.tuple(bodies, fc.nat(), changes).map(([body, at, change]) => {
    const paths = pathsIn(body);
    const result = changed(body, paths[at % paths.length]!, change);
    return result === undefined ? { text: '' } : sent(result);
  });
  const texts = fc
    .tuple(bodies, fc.constantFrom(...TEXTS))
    .map(([body, change]) => change(JSON.stringify(body)));
  return fc.oneof({ weight: 3, arbitrary: values }, { weight: 1, arbitrary: texts });
}
