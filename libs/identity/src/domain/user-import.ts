import {
  type FieldCode,
  type FieldFault,
  isNumericId,
  isStorable,
  numericIdOf,
} from '#libs/kernel';
import {
  hasPasswordLength,
  isUsername,
  PASSWORD_MAX,
  PASSWORD_MIN,
  type Role,
  ROLES,
  type Status,
  STATUSES,
  USERNAME_RULE,
} from './user.js';

/** A user that was created elsewhere. */
export interface ImportedUser {
  /** Keeps the customer's addresses and the owner of its applications. */
  id: string;
  username: string;
  role: Role;
  status: Status;
  joinDate?: Date;
  /** Without one, the user gets no credential. */
  password?: string;
}

/** The content of a file of users. It may be used only if `faults` is empty. */
interface ReadUsers {
  users: ImportedUser[];
  faults: FieldFault[];
}

const TIME = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/**
 * Reads users in the form of the API's answers, with a `password` if there is one. Members that are null count
 * as absent, and unknown members are ignored. Faults contain a JSON Pointer.
 */
export function readUsers(records: unknown): ReadUsers {
  if (!Array.isArray(records)) {
    const message = 'users must be a JSON array.';
    return { users: [], faults: [{ field: '', code: 'type', message }] };
  }
  const faults: FieldFault[] = [];
  const known = new Set<string>();
  const users = records.map((record: unknown, index): ImportedUser => {
    const fault = (name: string, code: FieldCode, says: string): void => {
      faults.push(userFault(index, name, code, says));
    };
    const members = (typeof record === 'object' && record !== null ? record : {}) as Partial<
      Record<string, unknown>
    >;
    const choice = <Choice extends string>(name: string, choices: readonly Choice[]): Choice => {
      const value = members[name] ?? choices[0];
      if (choices.includes(value as Choice)) return value as Choice;
      fault(name, 'choice', `must be one of ${choices.join(', ')}`);
      return choices[0]!;
    };
    const id = numericIdOf(members['id']) ?? '0';
    if (!isNumericId(id) || id === '0' || Number(id) > Number.MAX_SAFE_INTEGER) {
      fault('id', 'range', `must be a number from 1 to ${Number.MAX_SAFE_INTEGER}`);
    }
    const { username, password, joinDate } = members;
    if (typeof username !== 'string' || !isUsername(username)) {
      fault('username', 'format', USERNAME_RULE);
    }
    for (const [name, value] of [
      ['id', id],
      ['username', username],
    ] as const) {
      const key = `${name} ${String(value)}`;
      if (known.has(key)) fault(name, 'conflict', 'is used twice');
      known.add(key);
    }
    const hasPassword = password !== undefined && password !== null;
    if (hasPassword && !(typeof password === 'string' && hasPasswordLength(password))) {
      fault('password', 'length', `must have ${PASSWORD_MIN} to ${PASSWORD_MAX} characters`);
    } else if (hasPassword && !isStorable(password)) {
      fault('password', 'format', 'must not contain U+0000 or lone surrogates');
    }
    const hasDate = joinDate !== undefined && joinDate !== null;
    if (hasDate && !(typeof joinDate === 'string' && isTime(joinDate))) {
      fault('joinDate', 'format', 'must be a time such as 2026-01-31T12:00:00Z');
    }
    return {
      id,
      username: String(username),
      role: choice('role', ROLES),
      status: choice('status', STATUSES),
      ...(hasDate && { joinDate: new Date(joinDate as string) }),
      ...(hasPassword && { password: password as string }),
    };
  });
  return { users, faults };
}

/** A fault of a record, located by a JSON Pointer (RFC 6901). */
export function userFault(index: number, name: string, code: FieldCode, says: string): FieldFault {
  return { field: `/${index}/${name}`, code, message: `${name} ${says}.` };
}

function isTime(text: string): boolean {
  const [, day] = TIME.exec(text) ?? [];
  if (day === undefined || Number.isNaN(Date.parse(text))) return false;
  // Date turns 2026-02-30 into a day in March, and 24:00 into the next day.
  return new Date(`${day}T00:00Z`).toISOString().startsWith(day) && !text.includes('T24');
}
