import { parseTime, TIME_RULE } from '#libs/http';
import type { FieldCode, FieldFault } from '#libs/kernel';

/** Why a member is refused: a code, and text that begins with "must" or similar. */
export class Problem {
  constructor(
    readonly code: FieldCode,
    readonly says: string,
  ) {}
}

/** Returns the value of a member, or its problem. */
export type Rule<Value> = (given: unknown) => Value | Problem;

/** Reads the members of a JSON object without a DTO, and collects all faults. */
export class MemberReader {
  readonly faults: FieldFault[] = [];

  /** @param pointer where the object is in the body: empty, or a JSON Pointer */
  constructor(
    private readonly members: Record<string, unknown>,
    private readonly pointer = '',
  ) {}

  /** Treats null as absent, and ignores members of the prototype. */
  given(name: string): unknown {
    return Object.hasOwn(this.members, name) ? (this.members[name] ?? undefined) : undefined;
  }

  optional<Value>(name: string, rule: Rule<Value>): Value | undefined {
    const member = this.given(name);
    const read = member === undefined ? undefined : rule(member);
    if (!(read instanceof Problem)) return read;
    this.refuse(name, read);
    return undefined;
  }

  required<Value>(name: string, rule: Rule<Value>): Value | undefined {
    if (this.given(name) === undefined) this.refuse(name, IS_REQUIRED);
    return this.optional(name, rule);
  }

  refuse(name: string, problem: Problem): void {
    this.faults.push(faultOf(this.pointer, name, problem));
  }
}

const IS_REQUIRED = new Problem('required', 'is required');
export const IS_NO_STRING = new Problem('type', 'must be a string');

export function oneOf<Choice extends string>(
  choices: readonly Choice[],
  isChoice: (text: string) => text is Choice,
): Rule<Choice> {
  const isNone = new Problem('choice', `must be one of ${choices.join(', ')}`);
  return (given) => {
    if (typeof given !== 'string') return IS_NO_STRING;
    return isChoice(given) ? given : isNone;
  };
}

export function time(given: unknown): Date | Problem {
  if (typeof given !== 'string') return IS_NO_STRING;
  return parseTime(given) ?? new Problem('format', TIME_RULE);
}

export function faultOf(pointer: string, name: string, { code, says }: Problem): FieldFault {
  const field = pointer === '' ? name : `${pointer}/${name}`;
  return { field, code, message: `${field} ${says}.` };
}
