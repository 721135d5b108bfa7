import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import {
  faultAt,
  type FieldFault,
  fieldsOf,
  type JsonReader,
  readFields,
  type Steps,
  trimmed,
  ValidationError,
} from '#libs/kernel';
import type { Config } from '#libs/runtime';
import { jsonPieces } from './json-pieces.js';
import { bodySchemaOf, type Refusing, takesEmptyArray } from './openapi/body-schema.js';
import { type BodyLimit, MAX_LOGIN_BYTES } from './read-body.js';
import { configOf } from './request.js';
import { isStrict, unknownMembers } from './strict-handling.js';

/** The body as a valid instance of a DTO, whose members `Field` declares. */
export const JsonBody = createParamDecorator(dtoBody);

export function dtoBody(dto: new () => object, context: ExecutionContext): Promise<object> {
  return bodyWithin('MAX_BODY_BYTES', dto, context);
}

async function bodyWithin(
  limit: BodyLimit,
  dto: (new () => object) & Refusing,
  context: ExecutionContext,
): Promise<object> {
  const request = context.switchToHttp().getRequest<Request>();
  const readBody = await jsonPieces(limit, context);
  const { body, faults } = await readBody((json) => givenBody(json, dto));
  const isPost = request.method === 'POST';
  const isRefusing = isStrict(request) || dto.refusesUnknown === true;
  const unknown = isRefusing ? unknownMembers(body, bodySchemaOf(dto, isPost)) : [];
  const others = unknown.filter(({ field }) => !faults.some((fault) => fault.field === field));
  return validDto(dto, body, isPost, configOf(request), [...faults, ...others]);
}

/** No valid object or array is longer, but for those that are kept as text. To parse one takes up to 2 ms. */
const MAX_NESTED_BYTES = 64 << 10;

const NO_FILTER = { code: 'not_allowed', says: 'is not a filter of this request' } as const;
const EMPTY_ARRAY = /^\[\s*\]$/;

/** Reads a body. Of unknown members, only some names are kept. */
function* givenBody(
  json: JsonReader,
  dto: (new () => object) & Refusing,
): Steps<{ body: Record<string, unknown>; faults: FieldFault[] }> {
  const fields = new Map(fieldsOf(dto).map((field) => [field.name, field]));
  const refused = new Set(dto.refused);
  const { parts } = yield* json.members(new Set([...fields.keys(), ...refused]));
  const faults: FieldFault[] = [];
  const members = Array.from(parts, ([name, part]): [string, unknown] => {
    const field = fields.get(name);
    if (!field && !refused.has(name)) return [name, undefined];
    const text = json.textOf(part);
    if (!field) {
      if (text !== 'null') faults.push(faultAt(name, NO_FILTER));
      return [name, undefined];
    }
    // PHP turns an empty object into an empty array when it sends a resource back.
    const sent = takesEmptyArray(field) && EMPTY_ARRAY.test(text) ? '{}' : text;
    if (field.raw === true) return [name, sent === 'null' ? null : sent];
    const isNested = sent.startsWith('{') || sent.startsWith('[');
    if (!isNested || part.end - part.start <= MAX_NESTED_BYTES) return [name, JSON.parse(sent)];
    const message = `${name} must have at most ${MAX_NESTED_BYTES} bytes of JSON text.`;
    faults.push({ field: name, code: 'length', message });
    return [name, undefined];
  });
  return { body: Object.fromEntries(members), faults };
}

/** Like {@link JsonBody}, for a login, whose body is optional and has at most a kilobyte. */
export const LoginBody = createParamDecorator(loginBody);

export async function loginBody(
  dto: new () => object,
  context: ExecutionContext,
): Promise<object | undefined> {
  const { headers } = context.switchToHttp().getRequest<Request>();
  const { 'transfer-encoding': chunked, 'content-length': length = 0 } = headers;
  const isAbsent = chunked === undefined && Number(length) === 0;
  return isAbsent ? undefined : bodyWithin(MAX_LOGIN_BYTES, dto, context);
}

/**
 * @param body with JSON text for members that are kept as text
 * @param isNew on create, where `null` means "not given"
 * @param more faults that were found before; no others of the same fields are reported
 * @throws ValidationError with every faulty field
 */
export function validDto<Dto extends object>(
  dto: new () => Dto,
  body: Readonly<Record<string, unknown>>,
  isNew: boolean,
  config?: Config,
  more: readonly FieldFault[] = [],
): Dto {
  const members = trimmed(dto, body);
  const given = (name: string) => (Object.hasOwn(members, name) ? members[name] : undefined);
  const { value, problems } = readFields(dto, given, { isNew, config });
  const known = new Set(more.map(({ field }) => field));
  const found = problems.filter(([name]) => !known.has(name));
  const faults = [...found.map(([name, problem]) => faultAt(name, problem)), ...more];
  if (faults.length > 0) throw new ValidationError(faults);
  return value;
}
