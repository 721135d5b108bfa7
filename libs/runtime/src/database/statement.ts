/** For a statement without parameters. */
export type NoValues = object;
export type Given<Values extends object> = keyof Values extends never ? [] : [values: Values];

/**
 * An SQL statement with named parameters: `@webhookId` in its text stands for the value `webhookId`. Create
 * it with {@link statement} or {@link prepared}. Columns are named like the members of our types, in quotes:
 * `account_id AS "accountId"`.
 */
export interface Statement<Values extends object = NoValues, Row extends object = object> {
  /** The key of the server's prepared plan. */
  readonly name?: string;
  /** The text for PostgreSQL, with `$1`, `$2` and so on. */
  readonly text: string;
  /**
   * The values in the order of their numbers; `undefined` becomes NULL.
   * @throws Error when the names in the text and in the values differ
   */
  readonly valuesOf: (...given: Given<Values>) => unknown[];
  /** Only carries the type of the rows; it has no value. */
  readonly row?: Row;
}

/** Runs a statement. The implementation documents its transaction and its errors. */
export type Run = <Values extends object, Row extends object>(
  statement: Statement<Values, Row>,
  ...given: Given<Values>
) => Promise<Row[]>;

/** A parameter, or text without any: a comment, a literal or a quoted name. `<@` is an operator. */
const PARAMETER = /--.*|'[^']*'|"[^"]*"|(?<![\w<@])@([a-z]\w*)/g;

/**
 * A statement that is planned for its values each time, because its best plan depends on them. Its parameters
 * are numbered once, here.
 */
export function statement<Values extends object = NoValues, Row extends object = object>(
  source: string,
): Statement<Values, Row> {
  const names: string[] = [];
  const text = source.replace(PARAMETER, (found, name?: string) => {
    if (name === undefined) return found;
    if (!names.includes(name)) names.push(name);
    return `$${String(names.indexOf(name) + 1)}`;
  });
  const valuesOf = (values: object = {}): unknown[] => {
    const given = Object.keys(values);
    if (given.length !== names.length || !names.every((name) => Object.hasOwn(values, name))) {
      throw new Error(`the values [${given.join()}] do not match [${names.join()}] in:${text}`);
    }
    return names.map((name) => (values as Record<string, unknown>)[name]);
  };
  return { text, valuesOf };
}

/** A prepared statement: the server keeps its plan for each connection under this name. */
export function prepared<Values extends object = NoValues, Row extends object = object>(
  name: string,
  source: string,
): Statement<Values, Row> {
  return { name, ...statement<Values, Row>(source) };
}

/**
 * Array parameters as rows, for `FROM`. Hides from the planner how many there are: it would expect less work for the
 * one or two at hand than for any number, and so never keep a plan. Planning takes longer than most statements.
 * @param arrays the type of the elements by the name of the parameter
 */
export function rowsFrom(arrays: Readonly<Record<string, string>>): string {
  const hidden = Object.entries(arrays).map(([name, type]) => `(SELECT @${name}::${type}[])`);
  return `unnest(${hidden.join(', ')})`;
}

/**
 * A CTE for {@link CLOCK_TIME} and {@link later}, which replace `now()` where Citus takes immutable functions only: in the CASE
 * or COALESCE of an UPDATE, and beside its columns.
 */
export const CLOCK = `clock AS MATERIALIZED (SELECT now() AS at, now() AT TIME ZONE 'UTC' AS utc)`;
export const CLOCK_TIME = '(SELECT at FROM clock)';
/** The time after an interval from now. `timestamp + interval` is immutable, unlike `timestamptz + interval`. */
export const later = (interval: string): string =>
  `((SELECT utc FROM clock) + ${interval}) AT TIME ZONE 'UTC'`;

/** A row whose columns are named like the members of `Thing`; NULL stands for an absent member. */
export type RowOf<Thing> = {
  [Key in keyof Thing]-?: object extends Pick<Thing, Key> ? Thing[Key] | null : Thing[Key];
};

/** The thing in a row, which lacks the members that are NULL. */
export function withoutNulls<Thing extends object>(row: RowOf<Thing>): Thing {
  const thing: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) if (value !== null) thing[name] = value;
  return thing as Thing;
}
