import type { QueryReader } from '#libs/kernel/http';

/** Those of the text parameters that are given. */
export function textsOf<Name extends string>(
  query: QueryReader,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const texts: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const text = query.text(name);
    if (text !== undefined) texts[name] = text;
  }
  return texts;
}

/** `since` and `until`, as far as they are given. */
export function timesOf(query: QueryReader): { since?: Date; until?: Date } {
  const since = query.time('since');
  const until = query.time('until');
  return { ...(since && { since }), ...(until && { until }) };
}
