import fc from 'fast-check';
import { type DescribedOperation, type JsonSchema, placesOf } from '../support/described-api.js';
import { mutatedBodies, type SentBody, sent } from './mutations.js';
import type { Rules } from './rules.js';
import { CHARACTER, standInOf, valuesOf } from './schema-values.js';
import { bodiesOf, REFERENCES } from '../support/belongings.js';

/** A request to an operation. `{place}` in a path stands for the id of a resource. */
export interface FuzzRequest {
  operation: DescribedOperation;
  asHead: boolean;
  path: string;
  query: (readonly [name: string, value: string])[];
  headers: (readonly [name: string, value: string])[];
  body?: SentBody;
}

/** A request as a line, for a report. */
export function tellOf({ operation, path, query, headers, body }: FuzzRequest): string {
  const asked = new URLSearchParams(query as [string, string][]).toString();
  const head = headers.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ');
  return `${operation.method} ${path}?${asked} {${head}} ${body ? JSON.stringify(body).slice(0, 600) : ''}`;
}

/** Requests to every operation with credentials: valid ones, and ones with faults. */
export function requestsTo(
  operations: DescribedOperation[],
  rules: Rules,
): fc.Arbitrary<FuzzRequest> {
  return fc.oneof(...operations.map((one) => requestsOf(one, rules)));
}

function requestsOf(operation: DescribedOperation, rules: Rules): fc.Arbitrary<FuzzRequest> {
  const { method } = operation;
  const bodies = bodiesTo(operation, rules);
  const parts = {
    operation: fc.constant(named(operation)),
    asHead: rules.api.isEndless(operation)
      ? fc.constant(true)
      : mostly(fc.constant(false), fc.constant(method === 'GET')),
    path: mostly(fc.constant(ownPath(operation)), oddPaths(operation)),
    query: mostly(queries(operation, rules), oddQueries(operation, rules)),
    headers: mostly(headers(operation, rules), oddHeaders(bodies !== undefined)),
    // Half of them faulty, because bodies have most of the rules.
    ...(bodies && { body: fc.oneof(bodies.map(sent), mutatedBodies(bodies)) }),
  };
  return fc.record(parts, { noNullPrototype: true });
}

const STAND_INS = new Map(Object.values(REFERENCES).map((place) => [place, standInOf(place)]));

/**
 * Valid bodies: half of them the description's examples, because few random values obey the rules between members and
 * those of a filter, which the schema does not express.
 */
function bodiesTo(operation: DescribedOperation, rules: Rules): fc.Arbitrary<unknown> | undefined {
  const schema = rules.api.bodyOf(operation)?.schema;
  if (!schema) return undefined;
  const values = valuesOf(schema, rules);
  const examples = bodiesOf(rules.api, operation, { ids: STAND_INS });
  const given = examples.filter((example) => example !== undefined);
  return given.length === 0 ? values : fc.oneof(values, fc.constantFrom(...given));
}

/** fast-check's reports show an operation by its name only. */
function named(operation: DescribedOperation): DescribedOperation {
  return Object.assign(
    { ...operation },
    { [fc.toStringMethod]: () => operation.operation.operationId },
  );
}

/** Valid nine times out of ten: a request should have few faults at a time. */
function mostly<Value>(usual: fc.Arbitrary<Value>, odd: fc.Arbitrary<Value>): fc.Arbitrary<Value> {
  return fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

function ownPath({ path }: DescribedOperation): string {
  return placesOf(path).reduce(
    (all, { name, place }) => all.replace(`{${name}}`, `{${place}}`),
    path,
  );
}

const ODD_IDS = [
  ...['0', '-1', '+1', '01', '1.0', '1e3', '0x1', '9223372036854775807', '9223372036854775808'],
  ...['99999999999999999999999999', ' 1', '1 ', '1\0', '１', 'null', '__proto__', 'constructor'],
  ...[
    '019a0000-0000-7000-8000-000000000000',
    '019A0000-0000-7000-8000-000000000000',
    '%',
    '%2e%2e',
  ],
  ...['00000000-0000-0000-0000-000000000000', "1' OR '1'='1", '1;DROP TABLE users', '../1', '*'],
];

function oddPaths(operation: DescribedOperation): fc.Arbitrary<string> {
  const places = placesOf(operation.path);
  if (places.length === 0) return fc.constantFrom(`${operation.path}/`, operation.path);
  const odd = fc.oneof(fc.constantFrom(...ODD_IDS), fc.string({ unit: CHARACTER, minLength: 1 }));
  return fc.tuple(fc.constantFrom(...places), odd).map(([{ place }, text]) => {
    // Unescaped, they would mean another path.
    const segment = ['.', '..'].includes(text) ? '%2e' : encodeURIComponent(text.toWellFormed());
    return ownPath(operation).replace(`{${place}}`, segment);
  });
}

type Pairs = (readonly [name: string, value: string])[];

function queries(operation: DescribedOperation, rules: Rules): fc.Arbitrary<Pairs> {
  // Each wait would take up to half a minute.
  const all = rules.api.parametersOf(operation, 'query');
  const known = all.filter(({ name }) => name !== 'wait');
  return fc.tuple(...known.map(({ name, schema }) => sometimes(name, schema, rules))).map(present);
}

function oddQueries(operation: DescribedOperation, rules: Rules): fc.Arbitrary<Pairs> {
  const names = rules.api.parametersOf(operation, 'query').map(({ name }) => name);
  const name = fc.constantFrom(...names, '__proto__', 'constructor', 'limit[]', 'limit[$gt]', '');
  const value = fc.oneof(
    fc.constantFrom(...ODD_IDS, '', 'true', 'TRUE', '1001', '0', 'now', '2026-13-01T00:00:00Z'),
    fc.string({ unit: CHARACTER }),
  );
  return fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 4 });
}

function headers(operation: DescribedOperation, rules: Rules): fc.Arbitrary<Pairs> {
  const known = rules.api.parametersOf(operation, 'header');
  const json = rules.api.bodyOf(operation) ? [['content-type', 'application/json'] as const] : [];
  return fc
    .tuple(...known.map(({ name, schema }) => sometimes(name, schema, rules, VISIBLE)))
    .map((pairs) => [...json, ...present(pairs)]);
}

/** Characters that Node's client allows in a header. */
const VISIBLE = /^[!-~]([ -~]*[!-~])?$/;

function sometimes(name: string, schema: JsonSchema, rules: Rules, as = /[^]*/) {
  const values = valuesOf(schema, rules).map(String);
  const fitting = values.filter((value) => as.test(value));
  return fc.option(
    fitting.map((value) => [name, value] as const),
    { freq: 3, nil: undefined },
  );
}

const present = (pairs: (readonly [string, string] | undefined)[]): Pairs =>
  pairs.filter((pair) => pair !== undefined);

const TYPES = [
  ...['application/json', 'application/json; charset=latin1', 'APPLICATION/JSON', 'text/plain'],
  ...['application/problem+json', 'application/x-www-form-urlencoded', 'json', '*/*', ''],
];

function oddHeaders(hasBody: boolean): fc.Arbitrary<Pairs> {
  const type = hasBody ? fc.constantFrom(...TYPES) : fc.constant('application/json');
  const odd = fc.constantFrom<readonly [string, string]>(
    ['x-odd', ''],
    ['content-encoding', 'br'],
    ['content-encoding', 'gzip'],
    ['authorization', 'Basic'],
    ['authorization', 'Bearer x'],
    ['authorization', 'Basic bm9ib2R5Onh4eHh4eHh4'],
    ['accept', 'application/xml'],
    ['accept-encoding', 'br;q=x'],
    ['if-match', '"'],
    ['if-match', 'W/"1"'],
    ['if-none-match', '*'],
    ['if-modified-since', 'x'],
    ['idempotency-key', '\xe9'],
    ['idempotency-key', 'x'.repeat(300)],
    ['switchhook-account', '01'],
    ['x-request-id', '<script>'],
    ['x-forwarded-for', '::1, x'],
    ['x-http-method-override', 'DELETE'],
    ['range', 'bytes=0-1'],
    ['cookie', '__proto__=1'],
    ['expect', 'x'],
    ['traceparent', '00-x'],
    ['origin', 'null'],
    ['te', 'trailers'],
  );
  return fc.tuple(type, odd).map(([value, header]) => [['content-type', value], header]);
}
