import type { FieldCode, FieldFault } from './errors.js';
import { numericIdOf } from './text.js';
import { isObject, type Validator, validatorOf } from './validator.js';

const LAST_ID = Number.MAX_SAFE_INTEGER;

/** The id of an imported resource. New ids continue from the highest one, so some must be left. */
export const importedId: Validator<string | number> = validatorOf({}, (value) => {
  const id = numericIdOf(value) ?? '0';
  const isValid = id !== '0' && Number(id) <= LAST_ID;
  return isValid ? [] : [{ code: 'range', says: `must be a number from 1 to ${LAST_ID}` }];
});

/** A fault of an imported record, located by a JSON Pointer (RFC 6901). */
export function recordFault(
  index: number,
  name: string,
  code: FieldCode,
  says: string,
): FieldFault {
  return { field: `/${index}/${name}`, code, message: `${name} ${says}.` };
}

/** A record of an imported file. Collects every fault. Members that are null count as absent. */
export class ImportRecord {
  readonly faults: FieldFault[] = [];
  private readonly members: Record<string, unknown>;

  constructor(
    record: unknown,
    private readonly index: number,
  ) {
    this.members = isObject(record) ? record : {};
  }

  has(name: string): boolean {
    return Object.hasOwn(this.members, name) && this.members[name] !== null;
  }

  /** A member if it is given, valid or not. */
  optional<Value>(name: string, validator: Validator<Value>, trim = false): Value | undefined {
    return this.has(name) ? this.value(name, validator, trim) : undefined;
  }

  /** A member that must be given. */
  required<Value>(name: string, validator: Validator<Value>, trim = false): Value | undefined {
    if (!this.has(name)) this.fault(name, 'required', 'is required');
    return this.optional(name, validator, trim);
  }

  /** A member that its validator checks even if it is absent. */
  value<Value>(name: string, validator: Validator<Value>, trim = false): Value {
    const given = this.members[name];
    const value = trim && typeof given === 'string' ? given.trim() : given;
    for (const { code, says } of validator.check(value)) this.fault(name, code, says);
    return value as Value;
  }

  fault(name: string, code: FieldCode, says: string): void {
    this.faults.push(recordFault(this.index, name, code, says));
  }
}
