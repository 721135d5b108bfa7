import type { EntityManager } from 'typeorm';
import { type Config, InvalidConfigError } from '../config/config.js';

/** The ids of 1,024 groups end at 2^53, so that each is exact as a number in JSON. */
const IDS_OF_GROUP = 2 ** 43;

/** The sequence of an identity column. */
interface IdSequence {
  table: string;
  sequence: string;
}

const ID_SEQUENCES = `
SELECT c.oid::regclass AS table, pg_get_serial_sequence(c.oid::regclass::text, a.attname) AS sequence
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE a.attidentity <> '' AND c.relnamespace = current_schema()::regnamespace
ORDER BY c.relname`;

/**
 * Makes new ids come from the range of `INSTALLATION_GROUP`, in the transaction of `manager`. Only their next values say
 * which ranges the sequences are in, because Citus does not alter the sequences of distributed tables.
 * @throws like {@link idSequencesToMove}
 */
export async function useIdsOfGroup(
  manager: EntityManager,
  { INSTALLATION_GROUP: group }: Config,
): Promise<void> {
  for (const { sequence } of await idSequencesToMove(manager, group)) {
    await manager.query('SELECT setval($1, $2, false)', [sequence, idsOf(group)[0]]);
  }
}

/**
 * The sequences that give ids of another group. A group can only be raised, so that no id is given twice, even if its row
 * has been deleted. The default, group 0, moves nothing.
 * @throws InvalidConfigError if the group is smaller than the present one, or one of its ids is already used
 */
export async function idSequencesToMove(
  manager: EntityManager,
  group: number,
): Promise<IdSequence[]> {
  const moving: IdSequence[] = [];
  if (group === 0) return moving;
  for (const one of await manager.query<IdSequence[]>(ID_SEQUENCES)) {
    const [row] = await manager.query<{ last: number }[]>(
      `SELECT last_value::float8 AS last FROM ${one.sequence}`,
    );
    const present = Math.floor((row?.last ?? 0) / IDS_OF_GROUP);
    if (present === group) continue;
    if (present > group) {
      throw refused(`must be at least ${present}, the group of the ids in this database`);
    }
    const used = await manager.query<unknown[]>(
      `SELECT FROM ${one.table} WHERE id BETWEEN $1 AND $2 LIMIT 1`,
      idsOf(group),
    );
    if (used.length > 0) {
      throw refused(`must be another group: ${one.table} already has ids of group ${group}`);
    }
    moving.push(one);
  }
  return moving;
}

function refused(says: string): InvalidConfigError {
  return new InvalidConfigError(`configuration: INSTALLATION_GROUP: ${says}`);
}

/** The first and the last id of a group. */
function idsOf(group: number): [first: number, last: number] {
  return [group * IDS_OF_GROUP + 1, (group + 1) * IDS_OF_GROUP - 1];
}

/**
 * A function that makes new ids continue after those of imported rows, as far as these are in the present range.
 * ">=", because the last_value of an unused sequence is the first number that it will return.
 */
export function idsContinueAfterImport(name: string, table: string): string {
  return `
CREATE OR REPLACE FUNCTION ${name}() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  present bigint := (SELECT last_value FROM ${table}_id_seq);
  imported bigint := (
    SELECT max(id) FROM ${table} WHERE id < (present / ${IDS_OF_GROUP} + 1) * ${IDS_OF_GROUP}
  );
BEGIN
  IF imported >= present THEN
    PERFORM setval('${table}_id_seq', imported);
  END IF;
END
$$;`;
}
