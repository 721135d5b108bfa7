import { Expose, plainToInstance, Transform } from 'class-transformer';
import { getMetadataStorage, registerDecorator } from 'class-validator';
import type { Problem } from './problem.js';
import { numericIdOf } from './text.js';
import { numericId, type Validator } from './validator.js';

/** How a member of a body, of an event or of an imported record is read. */
export interface FieldOptions {
  /** The name of the member, if it is not the property's. */
  name?: string;
  /** Of something new: a change has only the members that change. */
  required?: boolean;
  /** Required of something new unless this other member is given. */
  requiredUnless?: string;
  /** On a change, `null` stands for this value; otherwise `null` is a fault there. (In something new, `null` means "not given".) */
  clearsTo?: unknown;
  /** What the property of something new holds if the member is not given. */
  default?: unknown;
  /** Whether {@link trimmed} removes white space around a string. */
  trim?: boolean;
  /** The validator gets the member's JSON text as it was sent, not its value. */
  raw?: boolean;
  /** Converts a valid value; by default, the property holds the value itself. */
  read?: (value: never) => unknown;
  /** For the API description. */
  about?: string;
  /** What only the description for POST adds, and only that for PUT. */
  aboutNew?: string;
  aboutChange?: string;
  example?: unknown;
}

/** What a rule may use besides the value. */
export interface FieldContext {
  /** The properties of the fields before, as far as these are given and valid. */
  read: Readonly<Record<string, unknown>>;
  /** Whether something new is read, not a change of something whose values may be older than a rule. */
  isNew: boolean;
  /** Of the process that got the request. */
  config?: unknown;
}

/** A rule that needs more than the value. It only sees values that the field's validator accepts; `about` describes it. */
export type FieldRule<Value> = (value: Value, context: FieldContext) => Problem | undefined;

/** A declared member: how it is read, and which values it may have. */
export interface FieldDescription extends FieldOptions {
  name: string;
  property: string;
  validator: Validator;
  rule?: FieldRule<never> | undefined;
}

/** The name under which class-validator knows these declarations. */
const FIELD = 'field';
const complete = new Map<object, readonly FieldDescription[]>();

/** Declares a property as a member of what is read. Undeclared members are ignored. */
export function Field<Value>(
  validator: Validator<Value>,
  options: FieldOptions = {},
  rule?: FieldRule<Value>,
): PropertyDecorator {
  return (target, key) => {
    const property = String(key);
    const field: FieldDescription = { name: property, ...options, property, validator, rule };
    Expose()(target, key);
    if (options.trim === true) Transform(trim)(target, key);
    registerDecorator({
      name: FIELD,
      target: target.constructor,
      propertyName: property,
      constraints: [field],
      validator: { validate: (value) => validator.check(value).length === 0 },
    });
  };
}

const trim = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' ? value.trim() : value;

/** Declares a property that holds an id as a string of digits. */
export function IdField(options: FieldOptions = {}): PropertyDecorator {
  return Field(numericId(), { read: numericIdOf, ...options });
}

/** The fields that a class and its base classes declare; its own come first. */
export function fieldsOf(dto: new () => object): readonly FieldDescription[] {
  const known = complete.get(dto);
  if (known) return known;
  const declared = getMetadataStorage().getTargetValidationMetadatas(dto, '', true, false);
  const fields = declared
    .filter(({ name }) => name === FIELD)
    .map(({ constraints }) => constraints[0] as FieldDescription);
  complete.set(dto, fields);
  return fields;
}

/** Members of what people write, with their strings trimmed as the class declares. Objects would be copied, so they stay. */
export function trimmed(
  dto: new () => object,
  members: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const texts = Object.entries(members).filter(([, value]) => typeof value === 'string');
  const options = { excludeExtraneousValues: true, exposeUnsetFields: false };
  return { ...members, ...plainToInstance(dto, Object.fromEntries(texts), options) };
}

/** What was read. It may be used only if there are no problems. */
export interface ReadFields<Of> {
  /** Has only the properties that were given or have a default. */
  value: Of;
  problems: (readonly [name: string, problem: Problem])[];
}

/**
 * Reads the fields that a class declares.
 * @param given the member of this name; undefined if there is none
 */
export function readFields<Of extends object>(
  dto: new () => Of,
  given: (name: string) => unknown,
  { isNew = true, config }: Partial<Omit<FieldContext, 'read'>> = {},
): ReadFields<Of> {
  const problems: ReadFields<Of>['problems'] = [];
  const value = new dto();
  const read = value as Record<string, unknown>;
  const context: FieldContext = { read, isNew, config };
  for (const field of fieldsOf(dto)) {
    const { name, property } = field;
    const member = given(name);
    if (member === undefined || (member === null && isNew)) {
      const problem = isNew ? absenceProblem(field, given) : undefined;
      if (problem) problems.push([name, problem]);
      else if (isNew && field.default !== undefined) read[property] = field.default;
      continue;
    }
    if (member === null && field.clearsTo !== undefined) {
      read[property] = field.clearsTo;
      continue;
    }
    const found = problemsOf(field, member, context);
    for (const problem of found) problems.push([name, problem]);
    if (found.length === 0) read[property] = field.read ? field.read(member as never) : member;
  }
  return { value, problems };
}

function absenceProblem(
  { required, requiredUnless: other }: FieldDescription,
  given: (name: string) => unknown,
): Problem | undefined {
  if (required === true) return IS_REQUIRED;
  if (other === undefined || (given(other) ?? undefined) !== undefined) return undefined;
  return { code: 'required', says: `or ${other} is required` };
}

const IS_REQUIRED: Problem = { code: 'required', says: 'is required' };

function problemsOf(
  { validator, rule }: FieldDescription,
  value: unknown,
  context: FieldContext,
): readonly Problem[] {
  const problems = validator.check(value, context.isNew);
  if (problems.length > 0 || !rule) return problems;
  const problem = rule(value as never, context);
  return problem ? [problem] : problems;
}
