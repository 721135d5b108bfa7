/** A statement without parameters is given no values. */
export type NoValues = object;
export type Given<Values extends object> = keyof Values extends never ? [] : [values: Values];

/**
 * A statement of SQL whose parameters have names: `@webhookId` in its text is the value `webhookId`.
 * Made by {@link statement} or {@link prepared}.
 */
export interface Statement<Values extends object = NoValues, Row extends object = object> {
  /** The key of the server's plan. */
  readonly name?: string;
  /** The text as PostgreSQL takes it, with `$1`, `$2` and so on. */
  readonly text: string;
  /**
   * The values in the order of the numbers; `undefined` becomes NULL.
   * @throws when the text has other names than the values
   */
  readonly valuesOf: (...given: Given<Values>) => unknown[];
  /** The type of its rows; there is no value. */
  readonly row?: Row;
}

/** Runs a statement. Who offers it says in which transaction, and which errors it throws. */
export type Run = <Values extends object, Row extends object>(
  statement: Statement<Values, Row>,
  ...given: Given<Values>
) => Promise<Row[]>;

/** A parameter, or a comment, literal or quoted name, in which an `@` means nothing. `<@` is an operator. */
const PARAMETER = /--.*|'[^']*'|"[^"]*"|(?<![\w<@])@([a-z]\w*)/g;

/**
 * A statement that is planned for its values each time, as it must be where the best plan depends on
 * them. Its parameters are numbered here, so running it only picks values.
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
      throw new Error(`the values [${given.join()}] are not those of [${names.join()}] in:${text}`);
    }
    return names.map((name) => (values as Record<string, unknown>)[name]);
  };
  return { text, valuesOf };
}

/** A statement whose plan the server keeps, for each connection, under a name of its own. */
export function prepared<Values extends object = NoValues, Row extends object = object>(
  name: string,
  source: string,
): Statement<Values, Row> {
  return { name, ...statement<Values, Row>(source) };
}
