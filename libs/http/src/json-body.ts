import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import type { Request } from 'express';
import { type FieldCode, type FieldFault, rawMember, ValidationError } from '#libs/kernel';
import type { Config } from '#libs/runtime';
import { fieldsOf, validateUnder } from './field.js';
import { type BodyLimit, type JsonText, readJsonObject } from './read-body.js';
import { configOf } from './request.js';

/** The body as text and value, for routes that store parts of it as they were sent. */
export const RawJsonBody = createParamDecorator(rawBody);

export function rawBody(limit: BodyLimit, context: ExecutionContext): Promise<JsonText> {
  return readJsonObject(context.switchToHttp().getRequest<Request>(), limit);
}

/** The body as a valid instance of a DTO whose members are declared with `Field`. */
export const JsonBody = createParamDecorator(dtoBody);

export async function dtoBody(dto: new () => object, context: ExecutionContext): Promise<object> {
  const request = context.switchToHttp().getRequest<Request>();
  const body = await readJsonObject(request, 'MAX_BODY_BYTES');
  return validDto(dto, body, request.method === 'POST', configOf(request));
}

/**
 * @param nullIsAbsent on create, `null` means "not given"
 * @throws ValidationError with every faulty field
 */
export function validDto<Dto extends object>(
  dto: new () => Dto,
  body: JsonText,
  nullIsAbsent: boolean,
  config: Config,
): Dto {
  const members: Record<string, unknown> = {};
  const objects: Record<string, object> = {};
  const nestedFaults: FieldFault[] = [];
  for (const [name, { raw, read }] of fieldsOf(dto)) {
    if (!Object.hasOwn(body.value, name)) continue;
    const value = body.value[name];
    if (value === null && nullIsAbsent) continue;
    members[name] = raw === true && value !== null ? rawMember(body.text, name) : shallow(value);
    if (!read || typeof value !== 'object' || value === null || Array.isArray(value)) continue;
    const result = read(value as Record<string, unknown>);
    if ('faults' in result) nestedFaults.push(...result.faults);
    else objects[name] = result.value;
  }
  const instance = plainToInstance(dto, members, { excludeExtraneousValues: true });
  validateUnder(config, instance);
  const faults = validateSync(instance).map((error) => faultOf(error.property, error.constraints));
  faults.push(...nestedFaults);
  if (faults.length > 0) throw new ValidationError(faults);
  return Object.assign(instance, objects);
}

/** Replaces a nested value: no rule checks its contents, so its depth must not cost any time. */
function shallow(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? [] : {};
}

/** If a field breaks several rules, the first of these is reported. */
const PRECEDENCE: readonly FieldCode[] = ['required', 'type', 'length', 'format', 'choice'];

function faultOf(field: string, constraints: Record<string, string> = {}): FieldFault {
  const code = PRECEDENCE.find((candidate) => candidate in constraints);
  const [other, message] = Object.entries(constraints)[0] ?? ['format', `${field} is not valid.`];
  if (code) return { field, code, message: constraints[code] ?? message };
  return { field, code: other as FieldCode, message };
}
