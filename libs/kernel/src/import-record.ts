import type { FieldCode, FieldFault } from './errors.js';
import { readFields, trimmed } from './field.js';
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

/**
 * Reads the records of an imported file, which have the form of the API's answers: null counts as absent, and unknown
 * members are ignored.
 * @param dto declares the members of a record
 * @param unique names of members that no two records may share
 * @param notArray says that the file has no array of them
 * @returns the records, which may be used only if there are no faults
 */
export function readRecords<Of extends object>(
  dto: new () => Of,
  file: unknown,
  unique: readonly (keyof Of & string)[],
  notArray: string,
): { records: Of[]; faults: FieldFault[] } {
  if (!Array.isArray(file)) {
    return { records: [], faults: [{ field: '', code: 'type', message: notArray }] };
  }
  const faults: FieldFault[] = [];
  const used = new Set<string>();
  const records = (file as unknown[]).flatMap((record, index) => {
    if (!isObject(record)) {
      faults.push({ field: `/${index}`, code: 'type', message: 'A record must be a JSON object.' });
      return [];
    }
    const members = trimmed(dto, record);
    const given = (name: string) => (Object.hasOwn(members, name) ? members[name] : undefined);
    const { value, problems } = readFields(dto, given);
    for (const name of unique.filter((one) => value[one] !== undefined)) {
      const key = `${name} ${String(value[name])}`;
      if (used.has(key)) problems.push([name, { code: 'conflict', says: 'is used twice' }]);
      used.add(key);
    }
    faults.push(...problems.map(([name, { code, says }]) => recordFault(index, name, code, says)));
    return [value];
  });
  return { records, faults };
}
