import { applyDecorators } from '@nestjs/common';
import { Expose, Transform } from 'class-transformer';
import {
  registerDecorator,
  ValidateIf,
  validateSync,
  type ValidationArguments,
} from 'class-validator';
import {
  faultAt,
  type FieldCode,
  type FieldFault,
  type Problem,
  type Schema,
  type Validator,
} from '#libs/kernel';
import type { Config } from '#libs/runtime';

/** How a member of a body is read. */
export interface FieldOptions {
  /** On POST: a PUT changes the members that are given. */
  required?: boolean;
  /** Required on POST unless this other member is given. */
  requiredUnless?: string;
  /** On PUT, `null` clears it; otherwise `null` is a fault there. (On POST, `null` means "not given".) */
  clearable?: boolean;
  /** Removes white space around a string. */
  trim?: boolean;
  /** The property holds the member's JSON text as it was sent, not its value. */
  raw?: boolean;
  /** For the API description. */
  about?: string;
  /** What only the description for POST adds, and only that for PUT. */
  aboutNew?: string;
  aboutChange?: string;
  example?: unknown;
  default?: unknown;
}

/** A member of a body: how it is read, and which values it may have. */
export interface FieldDescription extends FieldOptions {
  schema: Schema;
  /** Its rules in words, but for the type. */
  wording: readonly string[];
  /** Rules that hold only on POST. */
  wordingNew: readonly string[];
}

const fields = new Map<object, Map<string, FieldDescription>>();

function describe(target: object, property: PropertyKey, more: Partial<FieldDescription>): void {
  const known = fields.get(target) ?? new Map<string, FieldDescription>();
  const described = {
    schema: {},
    wording: [],
    wordingNew: [],
    ...known.get(String(property)),
    ...more,
  };
  fields.set(target, known.set(String(property), described));
}

/** Declares a property of a DTO as a member of the body. Undeclared members are ignored. */
export function Field(options: FieldOptions = {}): PropertyDecorator {
  const { required = false, requiredUnless: other, clearable = false } = options;
  const register: PropertyDecorator = (target, property) => describe(target, property, options);
  const isGiven = (value: unknown): boolean =>
    value !== undefined && !(clearable && value === null);
  const trim = ({ value }: { value: unknown }): unknown =>
    typeof value === 'string' ? value.trim() : value;
  const isRequired = required || other !== undefined;
  return applyDecorators(
    register,
    Expose(),
    ...(options.trim === true ? [Transform(trim)] : []),
    ValidateIf((dto: object, value) => isGiven(value) || (isRequired && checked.get(dto)!.isNew)),
    ...(isRequired ? [requiredField(other)] : []),
  );
}

/** @param other a member that may be given instead */
function requiredField(other: string | undefined): PropertyDecorator {
  const says = other === undefined ? 'is required' : `or ${other} is required`;
  return checkedBy((value, { dto }) => {
    const isGiven = value !== undefined || (other !== undefined && dto[other] !== undefined);
    return isGiven ? [] : [{ code: 'required', says }];
  });
}

/** A rule of a field that needs more than its value. It only sees values that the field's validator accepts. */
export interface FieldRule<Value> {
  code: FieldCode;
  /** Begins with "must" or similar. One that depends on the configuration is not in the API description. */
  says: string | ((context: CheckContext) => string);
  holds: (value: Value, context: CheckContext) => boolean;
  /** Only for new resources. On a change, the service checks it, because it knows whether the value changes. */
  onlyNew?: true;
}

/** What a rule may use besides the value. */
export interface CheckContext {
  dto: Record<string, unknown>;
  config: Config;
  /** Whether the body is for a new resource, not for one whose values may be older than a rule. */
  isNew: boolean;
}

/** Which values a field may have. If several rules are broken, the first one is reported. */
export function Is<Value>(
  validator: Validator<Value>,
  ...rules: FieldRule<Value>[]
): PropertyDecorator {
  const { schema } = validator;
  const wordsOf = (some: FieldRule<Value>[]) =>
    some.flatMap(({ says }) => (typeof says === 'string' ? [says] : []));
  const wording = [...wordsOf(rules.filter(({ onlyNew }) => !onlyNew)), ...validator.wording];
  const wordingNew = wordsOf(rules.filter(({ onlyNew }) => onlyNew));
  return applyDecorators(
    (target: object, property: PropertyKey) =>
      describe(target, property, { schema, wording, wordingNew }),
    checkedBy((value, context) => {
      if (value === undefined) return [];
      const problems = validator.check(value, context.isNew);
      if (problems.length > 0) return problems;
      const broken = rules.find(
        ({ holds, onlyNew }) => (!onlyNew || context.isNew) && !holds(value as Value, context),
      );
      if (!broken) return [];
      const { code, says } = broken;
      return [{ code, says: typeof says === 'string' ? says : says(context) }];
    }),
  );
}

/** A body while it is checked, and the faults that were found so far. */
interface Checked extends CheckContext {
  faults: Map<string, FieldFault[]>;
}

const checked = new WeakMap<object, Checked>();

function checkedBy(
  check: (value: unknown, context: CheckContext) => readonly Problem[],
): PropertyDecorator {
  return (target, property) => {
    const name = String(property);
    const validate = (value: unknown, { object = {} }: Partial<ValidationArguments> = {}) => {
      const context = checked.get(object)!;
      const faults = check(value, context).map((problem) => faultAt(name, problem));
      if (faults.length > 0) context.faults.set(name, faults);
      return faults.length === 0;
    };
    const validator = { validate };
    registerDecorator({ target: target.constructor, propertyName: name, validator });
  };
}

/** All faults of an instance of a DTO. */
export function faultsIn(instance: object, config: Config, isNew: boolean): FieldFault[] {
  const faults = new Map<string, FieldFault[]>();
  checked.set(instance, { dto: instance as Record<string, unknown>, config, isNew, faults });
  const errors = validateSync(instance);
  // Or it would stay, with the instance, until a full garbage collection.
  checked.delete(instance);
  return errors.flatMap(({ property }) => faults.get(property) ?? []);
}

/** The members that a DTO and its base classes declare with {@link Field}. */
export function fieldsOf(dto: new () => object): Map<string, FieldDescription> {
  const all = new Map<string, FieldDescription>();
  for (
    let of = dto.prototype as object | null;
    of;
    of = Object.getPrototypeOf(of) as object | null
  ) {
    for (const [name, field] of fields.get(of) ?? []) if (!all.has(name)) all.set(name, field);
  }
  return all;
}

/** Whether a member must be an object, as which an empty array counts. */
export function takesEmptyArray({ schema }: FieldDescription): boolean {
  return schema.type === 'object';
}
