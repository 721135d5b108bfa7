import {
  type FieldFault,
  importedId,
  ImportRecord,
  numericIdOf,
  oneOf,
  string,
} from '#libs/kernel';
import {
  passwordValidator,
  type Role,
  ROLES,
  type Status,
  STATUSES,
  usernameValidator,
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

/**
 * Reads users in the form of the API's answers, with an optional `password`. Null counts as absent, and unknown
 * members are ignored. Faults contain a JSON Pointer.
 */
export function readUsers(records: unknown): ReadUsers {
  if (!Array.isArray(records)) {
    const message = 'users must be a JSON array.';
    return { users: [], faults: [{ field: '', code: 'type', message }] };
  }
  const faults: FieldFault[] = [];
  const known = new Set<string>();
  const users = records.map((value: unknown, index): ImportedUser => {
    const record = new ImportRecord(value, index);
    const id = numericIdOf(record.value('id', importedId)) ?? '0';
    const username = record.required('username', usernameValidator) ?? '';
    for (const [name, text] of Object.entries({ id, username })) {
      const key = `${name} ${text}`;
      if (known.has(key)) record.fault(name, 'conflict', 'is used twice');
      known.add(key);
    }
    const password = record.optional('password', passwordValidator);
    const joinDate = record.optional('joinDate', JOIN_DATE);
    const user = {
      id,
      username,
      role: record.optional('role', ROLE) ?? ROLES[0],
      status: record.optional('status', STATUS) ?? STATUSES[0],
      ...(joinDate !== undefined && { joinDate: new Date(joinDate) }),
      ...(password !== undefined && { password }),
    };
    faults.push(...record.faults);
    return user;
  });
  return { users, faults };
}

const ROLE = oneOf(ROLES);
const STATUS = oneOf(STATUSES);
const TIME = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;
/** Unlike a time in a request, it may lack seconds, as other services write times. */
const JOIN_DATE = string().and('format', 'must be a time such as 2026-01-31T12:00:00Z', isTime);

function isTime(text: string): boolean {
  const [, day] = TIME.exec(text) ?? [];
  if (day === undefined || Number.isNaN(Date.parse(text))) return false;
  // Date accepts 2026-02-30 as a day in March, and 24:00 as the next day.
  return new Date(`${day}T00:00Z`).toISOString().startsWith(day) && !text.includes('T24');
}
