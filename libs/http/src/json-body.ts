import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import type { Request } from 'express';
import {
  faultAt,
  type FieldFault,
  isEmptyArray,
  type JsonReader,
  RawJson,
  type Steps,
  ValidationError,
} from '#libs/kernel';
import type { Config } from '#libs/runtime';
import { faultsIn, type FieldDescription, fieldsOf, takesEmptyArray } from './field.js';
import { jsonPieces } from './json-pieces.js';
import { bodySchemaOf } from './openapi/body-schema.js';
import { type BodyLimit, MAX_LOGIN_BYTES } from './read-body.js';
import { configOf } from './request.js';
import { isStrict, unknownMembers } from './strict-handling.js';

/** The body as a valid instance of a DTO whose members are declared with `Field`. */
export const JsonBody = createParamDecorator(dtoBody);

export function dtoBody(dto: new () => object, context: ExecutionContext): Promise<object> {
  return bodyWithin('MAX_BODY_BYTES', dto, context);
}

async function bodyWithin(
  limit: BodyLimit,
  dto: new () => object,
  context: ExecutionContext,
): Promise<object> {
  const request = context.switchToHttp().getRequest<Request>();
  const readBody = await jsonPieces(limit, context);
  const { body, faults } = await readBody((json) => givenBody(json, dto));
  const isPost = request.method === 'POST';
  const unknown = isStrict(request) ? unknownMembers(body, bodySchemaOf(dto, isPost)) : [];
  const others = unknown.filter(({ field }) => !faults.some((fault) => fault.field === field));
  return validDto(dto, body, isPost, configOf(request), [...faults, ...others]);
}

/** A DTO may name members to refuse, if a request means more without them. Other members that it does not have are ignored. */
interface Refusing {
  readonly refused?: readonly string[];
}

/** No valid object or array is longer, but for those that are kept as text. To parse one takes up to 2 ms. */
const MAX_NESTED_BYTES = 64 << 10;

const NO_FILTER = { code: 'not_allowed', says: 'is no filter here' } as const;

/** Reads a body. Of unknown members, only some names are kept. */
function* givenBody(
  json: JsonReader,
  dto: (new () => object) & Refusing,
): Steps<{ body: Record<string, unknown>; faults: FieldFault[] }> {
  const fields = fieldsOf(dto);
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
    if (field.raw === true) return [name, new RawJson(text)];
    const isNested = text.startsWith('{') || text.startsWith('[');
    if (!isNested || part.end - part.start <= MAX_NESTED_BYTES) return [name, JSON.parse(text)];
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
 * @param body with {@link RawJson} for members that are kept as text
 * @param isNew on create, where `null` means "not given"
 * @param more faults that were found before; no others of the same fields are reported
 * @throws ValidationError with every faulty field
 */
export function validDto<Dto extends object>(
  dto: new () => Dto,
  body: Readonly<Record<string, unknown>>,
  isNew: boolean,
  config: Config,
  more: readonly FieldFault[] = [],
): Dto {
  const members: Record<string, unknown> = {};
  // Not given to class-transformer, which would copy them deeply.
  const nested: Record<string, unknown> = {};
  for (const [name, field] of fieldsOf(dto)) {
    if (!Object.hasOwn(body, name)) continue;
    const given = givenAs(field, body[name]);
    if (given === null && isNew) continue;
    (typeof given === 'object' ? nested : members)[name] = given;
  }
  const instance = plainToInstance(dto, members, { excludeExtraneousValues: true });
  Object.assign(instance, nested);
  const known = new Set(more.map(({ field }) => field));
  const found = faultsIn(instance, config, isNew).filter(({ field }) => !known.has(field));
  const faults = [...found, ...more];
  if (faults.length > 0) throw new ValidationError(faults);
  return instance;
}

const EMPTY_ARRAY = /^\[\s*\]$/;

/** The value of a member, as text if that is kept. PHP turns an empty object into an empty array when it sends a resource back. */
function givenAs(field: FieldDescription, value: unknown): unknown {
  if (value instanceof RawJson) {
    if (value.text === 'null') return null;
    return takesEmptyArray(field) && EMPTY_ARRAY.test(value.text) ? '{}' : value.text;
  }
  return isEmptyArray(value) && takesEmptyArray(field) ? {} : value;
}
