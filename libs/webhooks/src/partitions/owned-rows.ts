/**
 * The rows of one owner, newest first. Given `owner = @value` and the order of ids, the planner reads all rows in
 * that order if it knows that most are the owner's, however many others come before the first of them. If pairs are
 * compared and ordered, only the index that has both columns fits, and it begins at the right row.
 *
 * The statement's values are `@since`, `@until` and `@after`, besides `value`.
 */
export function ownedRows(owner: 'webhook_id' | 'account_id', value: string, alias = '') {
  const pair = `(${alias}${owner}, ${alias}id)`;
  const first = `CASE WHEN @since::timestamptz IS NULL THEN '${LEAST}'::uuid ELSE least_uuid(@since) END`;
  const end = `CASE WHEN @until::timestamptz IS NULL THEN '${GREATEST}'::uuid
      ELSE least_uuid(@until + interval '1 ms') END`;
  return {
    condition: `${pair} >= (${value}::bigint, ${first})
    AND ${pair} < (${value}::bigint, least(@after::uuid, ${end}))`,
    order: `${alias}${owner} DESC, ${alias}id DESC`,
  };
}

const LEAST = '00000000-0000-0000-0000-000000000000';
const GREATEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
