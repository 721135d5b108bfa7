import type { EntityManager } from 'typeorm';
import { type Config, InvalidConfigError } from '../config/config.js';

/** The ids of 1,024 groups end at 2^53, so that each is exact as a number in JSON. */
const IDS_OF_GROUP = 2 ** 43;

/** A sequence that gives the ids of a table. Its least value says whose range it gives, also in a restored backup. */
interface IdSequence {
  table: string;
  sequence: string;
  least: number;
}

const ID_SEQUENCES = `
SELECT c.oid::regclass AS table, s.seqrelid::regclass AS sequence, s.seqmin::float8 AS least
FROM pg_attribute a
  JOIN pg_class c ON c.oid = a.attrelid
  JOIN pg_sequence s ON s.seqrelid = pg_get_serial_sequence(c.oid::regclass::text, a.attname)::regclass
WHERE a.attidentity <> '' AND c.relnamespace = current_schema()::regnamespace
ORDER BY c.relname`;

/**
 * Makes the sequences give ids of `INSTALLATION_GROUP`, in the transaction of `manager`. Group 0 has no greatest id,
 * because an import may always have raised its ids beyond any range.
 * @throws like {@link idSequencesToMove}
 */
export async function useIdsOfGroup(
  manager: EntityManager,
  { INSTALLATION_GROUP: group }: Config,
): Promise<void> {
  const [first, last] = idsOf(group);
  for (const { sequence } of await idSequencesToMove(manager, group)) {
    await manager.query(
      `ALTER SEQUENCE ${sequence} MINVALUE ${first} MAXVALUE ${last} START ${first} RESTART`,
    );
  }
}

/**
 * The sequences that give ids of another group. A group can only be raised: so no id is given twice, even if its row has
 * been deleted, and a `migrate` without the setting is refused instead of going back to group 0.
 * @throws InvalidConfigError if the group is smaller than the present one, or one of its ids is already used
 */
export async function idSequencesToMove(
  manager: EntityManager,
  group: number,
): Promise<IdSequence[]> {
  const [first, last] = idsOf(group);
  const sequences = await manager.query<IdSequence[]>(ID_SEQUENCES);
  const moving = sequences.filter(({ least }) => least !== first);
  for (const { table, sequence, least } of moving) {
    if (least > first) {
      const present = Math.floor(least / IDS_OF_GROUP);
      throw refused(`must not be less than ${present}, the group of the ids in this database`);
    }
    const [{ used } = { used: true }] = await manager.query<{ used: boolean }[]>(
      `SELECT last_value BETWEEN $1 AND $2 OR EXISTS (SELECT FROM ${table} WHERE id BETWEEN $1 AND $2) AS used
       FROM ${sequence}`,
      [first, last],
    );
    if (used) throw refused(`must be another group: ${table} already has ids of group ${group}`);
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
 * A function that makes new ids continue after those of imported rows. Imported ids beyond the range of the group
 * do not count. ">=", because the last_value of an unused sequence is the first number that it will return.
 */
export function idsContinueAfterImport(name: string, table: string): string {
  return `
CREATE OR REPLACE FUNCTION ${name}() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT setval('${table}_id_seq', max(id)) FROM ${table}
  WHERE id <= (SELECT seqmax FROM pg_sequence WHERE seqrelid = '${table}_id_seq'::regclass)
  HAVING max(id) >= (SELECT last_value FROM ${table}_id_seq)
$$;`;
}
