import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import type { Request } from 'express';
import { type FieldFault, isEmptyArray, rawMember, ValidationError } from '#libs/kernel';
import type { Config } from '#libs/runtime';
import { faultsIn, fieldsOf, takesEmptyArray } from './field.js';
import { bodySchemaOf } from './openapi/body-schema.js';
import { type BodyLimit, type JsonText, MAX_LOGIN_BYTES, readJsonObject } from './read-body.js';
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
  const body = await readJsonObject(request, limit);
  const isPost = request.method === 'POST';
  const unknown = isStrict(request) ? unknownMembers(body.value, bodySchemaOf(dto, isPost)) : [];
  return validDto(dto, body, isPost, configOf(request), unknown);
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
 * @param isNew on create, where `null` means "not given"
 * @param more faults that were found before
 * @throws ValidationError with every faulty field
 */
export function validDto<Dto extends object>(
  dto: new () => Dto,
  body: JsonText,
  isNew: boolean,
  config: Config,
  more: readonly FieldFault[] = [],
): Dto {
  const members: Record<string, unknown> = {};
  // Not given to class-transformer, which would copy them deeply.
  const nested: Record<string, unknown> = {};
  for (const [name, field] of fieldsOf(dto)) {
    if (!Object.hasOwn(body.value, name)) continue;
    const value = body.value[name];
    if (value === null && isNew) continue;
    const isRaw = field.raw === true;
    let given = isRaw && value !== null ? rawMember(body.text, name) : value;
    if (isEmptyArray(value) && takesEmptyArray(field)) given = isRaw ? '{}' : {};
    (typeof given === 'object' ? nested : members)[name] = given;
  }
  const instance = plainToInstance(dto, members, { excludeExtraneousValues: true });
  Object.assign(instance, nested);
  const faults = [...faultsIn(instance, config, isNew), ...more];
  if (faults.length > 0) throw new ValidationError(faults);
  return instance;
}
