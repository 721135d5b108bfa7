import {
  Field,
  type FieldFault,
  importedId,
  numericIdOf,
  oneOf,
  readRecords,
  string,
} from '#libs/kernel';
import { type Role, ROLES } from './access.js';
import { passwordValidator, type Status, STATUSES, usernameValidator } from './user.js';

const TIME = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;
/** Unlike a time in a request, it may lack seconds, as other services write times. */
const JOIN_DATE = string().and('format', 'must be a time such as 2026-01-31T12:00:00Z', isTime);

function isTime(text: string): boolean {
  const [, day] = TIME.exec(text) ?? [];
  if (day === undefined || Number.isNaN(Date.parse(text))) return false;
  // Date accepts 2026-02-30 as a day in March, and 24:00 as the next day.
  return new Date(`${day}T00:00Z`).toISOString().startsWith(day) && !text.includes('T24');
}

/** A user that was created elsewhere. */
export class ImportedUser {
  /** Keeps the customer's addresses and the owner of its applications. */
  @Field(importedId, { required: true, read: numericIdOf })
  id!: string;

  @Field(usernameValidator, { required: true })
  username!: string;

  /** Without one, the user gets no credential. */
  @Field(passwordValidator)
  password?: string;

  @Field(JOIN_DATE, { read: (text: string) => new Date(text) })
  joinDate?: Date;

  @Field(oneOf(ROLES), { default: ROLES[0] })
  role!: Role;

  @Field(oneOf(STATUSES), { default: STATUSES[0] })
  status!: Status;
}

/** Reads users in the form of the API's answers, with an optional `password`. */
export function readUsers(file: unknown): { records: ImportedUser[]; faults: FieldFault[] } {
  return readRecords(ImportedUser, file, ['id', 'username'], 'users must be a JSON array.');
}
