/** A step of a plan, as EXPLAIN (ANALYZE) reports it. */
export interface Step {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: Step[];
}

/** How many rows of some tables a plan read or compared. */
export function rowsIn(step: Step, tables: RegExp): number {
  const ofStep = tables.test(step['Relation Name'] ?? '')
    ? (step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0)) * step['Actual Loops']
    : 0;
  const compared = (step['Rows Removed by Join Filter'] ?? 0) * step['Actual Loops'];
  return (step.Plans ?? []).reduce((sum, inner) => sum + rowsIn(inner, tables), ofStep + compared);
}

type Scalar = string | number | boolean | null | undefined;
export type Value = Scalar | Scalar[];

/** Executes the prepared statement `statement`. */
export function executing(values: readonly Value[]): string {
  return values.length === 0
    ? 'EXECUTE statement'
    : `EXECUTE statement(${values.map(literal).join(', ')})`;
}

function literal(value: Value): string {
  if (value === null || value === undefined) return 'NULL';
  return Array.isArray(value) ? `'{${value.map(element).join(',')}}'` : `'${String(value)}'`;
}

function element(value: Scalar): string {
  return value === null || value === undefined ? 'NULL' : JSON.stringify(String(value));
}
