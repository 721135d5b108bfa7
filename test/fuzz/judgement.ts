import { type DescribedOperation, placesOf } from '../support/described-api.js';
import type { Answer } from '../support/http.js';
import type { FuzzRequest } from './requests.js';
import type { Rules } from './rules.js';

/** A fault in an answer. */
interface Fault {
  field: string;
  code: string;
  message: string;
}

/** Codes of faults that no schema can express; the field's description explains them. */
const OF_THE_STATE = ['unknown_reference', 'conflict', 'not_allowed'];
/** Codes of faults that a schema expresses exactly: valid input never causes them. */
const OF_THE_SCHEMA = ['type', 'choice'];
const ODD_HEADERS = ['authorization', 'content-encoding'];

/** The ways in which a request violates the description; empty for a valid one. */
export function forbiddenIn(request: FuzzRequest, rules: Rules): string[] {
  const { operation } = request;
  const { api } = rules;
  const faults: (string | undefined)[] = [];
  const values = valuesInPath(request);
  for (const { name, schema } of api.parametersOf(operation, 'path')) {
    faults.push(rules.faultOfParameter(schema, values.get(name) ?? ''));
  }
  for (const { name, schema } of api.parametersOf(operation, 'query')) {
    const given = request.query.filter(([key]) => key === name);
    if (given.length > 1) faults.push(`${name} is given more than once`);
    faults.push(...given.map(([, value]) => rules.faultOfParameter(schema, value)));
  }
  const headers = new Map(request.headers);
  for (const { name, schema } of api.parametersOf(operation, 'header')) {
    const value = headers.get(name.toLowerCase()) ?? headers.get(name);
    if (value === undefined) continue;
    faults.push(rules.faultOfParameter(schema, value));
  }
  if (headers.has('authorization')) faults.push('the credentials are none');
  if (request.body) faults.push(...faultsOfBody(request, headers, rules));
  return faults.filter((fault) => fault !== undefined);
}

function faultsOfBody(request: FuzzRequest, headers: Map<string, string>, rules: Rules) {
  const { operation, body = { text: '' } } = request;
  const type = headers.get('content-type') ?? '';
  const [media = ''] = type.split(';', 1);
  return [
    body.text !== '' && media.trim().toLowerCase() !== 'application/json'
      ? 'the type is another'
      : undefined,
    headers.has('content-encoding') ? 'the encoding is another' : undefined,
    body.hasBrokenBytes === true ? 'the body is not UTF-8' : undefined,
    rules.faultOfBody(operation, body.text),
  ];
}

function valuesInPath({ operation, path }: FuzzRequest): Map<string, string> {
  const segments = path.split('/');
  const names = operation.path.split('/');
  return new Map(
    placesOf(operation.path).map(({ name }) => [
      name,
      decodeURIComponent(segments[names.indexOf(`{${name}}`)] ?? ''),
    ]),
  );
}

/** Refusals of a valid request that the description does not explain. */
export function unexplainedIn(request: FuzzRequest, answer: Answer, rules: Rules): string[] {
  const { operation, headers, asHead, body } = request;
  const { status } = answer;
  const names = headers.map(([name]) => name.toLowerCase());
  const isOddHeader = names.some((name) => ODD_HEADERS.includes(name));
  // HEAD has no reason, and limits of the process are not described.
  if (asHead || isOddHeader || body?.isBeyondLimits === true) return [];
  // The id may be unknown.
  if (status === 404 && operation.path.includes('{')) return [];
  const isConditional = headers.some(
    ([name, value]) =>
      name.toLowerCase() === 'if-match' ||
      (name.toLowerCase() === 'if-none-match' && value === '*'),
  );
  if (status === 412 && isConditional) return [];
  // The cursor may be older than what is kept, and a link that nobody has made opens nothing.
  if (status === 410 && operation.operation.operationId === 'feedFollow') return [];
  if (status === 401 && operation.operation.operationId === 'sessionBegin') return [];
  if (status === 422 && names.includes('idempotency-key')) return [];
  if (status === 409 || (status === 403 && answer.text.includes('webhook_limit_reached')))
    return [];
  if (status !== 400) return [`was refused with ${status}, though it is as described`];
  const { errors = [] } = answer.json<{ errors?: Fault[] }>();
  if (errors.length === 0) return ['was refused without a fault, though it is as described'];
  return errors.flatMap((fault) => unexplained(fault, operation, rules));
}

/** The same for the elements of a batch, each of which has its own result. */
export function unexplainedResults(request: FuzzRequest, answer: Answer, rules: Rules): string[] {
  const { results } = answer.json<{ results?: { errors?: Fault[] }[] }>();
  if (!results) return [];
  const { operation, body } = request;
  const elements = (JSON.parse(body?.text.replace(/^\ufeff/, '') ?? '') as { events: unknown[] })
    .events;
  const schema = rules.elementsOf(operation, 'events');
  return results.flatMap(({ errors }, index) => {
    const isAsDescribed = rules.allows(schema, elements[index], true);
    if (!isAsDescribed && !errors) return [`took element ${index}, though it is not as described`];
    if (!isAsDescribed || !errors) return [];
    return errors.flatMap((fault) => unexplained(fault, operation, rules));
  });
}

function unexplained(
  { field, code, message }: Fault,
  one: DescribedOperation,
  rules: Rules,
): string[] {
  if (OF_THE_STATE.includes(code)) return [];
  const isTextLength = code === 'length' && rules.schemaOf(one, field)?.maxLength !== undefined;
  if (isTextLength || OF_THE_SCHEMA.includes(code)) {
    return [`was refused (${message}), though its schema allows it`];
  }
  const says = message
    .replace(`The query parameter ${field} `, '')
    .replace(`${field} `, '')
    .replace(/\.$/, '');
  const told = `${rules.descriptionOf(one, field)} ${one.operation.description ?? ''}`;
  const isTold = told.replaceAll('`', '').toLowerCase().includes(says.toLowerCase());
  return isTold ? [] : [`was refused (${message}), which the description does not say`];
}
