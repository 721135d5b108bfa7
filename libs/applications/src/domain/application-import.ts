import {
  Field,
  type FieldFault,
  importedId,
  label,
  numericIdOf,
  readRecords,
  validatorOf,
} from '#libs/kernel';
import { ApplicationFields, contentOf } from './application.js';
import type { ImportedApplication } from './applications.repository.js';

const ACCOUNT = validatorOf<string | number>({}, (value) =>
  numericIdOf(value) === undefined ? [{ code: 'type', says: 'must be the id of an account' }] : [],
);

/** An application in an imported file. */
class ApplicationRecord extends ApplicationFields {
  @Field(importedId, { read: numericIdOf })
  id?: string;

  /** Names the account. */
  @Field(ACCOUNT, { required: true, read: numericIdOf })
  userId!: string;

  declare name: string;

  @Field(label(255), { trim: true })
  partition?: string;
}

/** The content of a file of applications. It may be used only if `faults` is empty. */
interface ReadImport {
  applications: ImportedApplication[];
  faults: FieldFault[];
}

/** Reads applications in the form of the API's answers, which get no environment unless they name one. */
export function readImport(file: unknown): ReadImport {
  const notArray = 'The file must hold a JSON array of applications.';
  const { records, faults } = readRecords(ApplicationRecord, file, ['id'], notArray);
  const applications = records.map(({ id, userId, partition = null, ...fields }) => ({
    ...contentOf(fields),
    environmentId: fields.environmentId ?? null,
    ...(id !== undefined && { id }),
    ...{ userId, partition },
  }));
  return { applications, faults };
}
