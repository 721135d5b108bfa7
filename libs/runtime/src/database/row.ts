/** A row whose columns are named like the members of `Thing`; NULL stands for an absent member. */
export type RowOf<Thing> = {
  [Key in keyof Thing]-?: object extends Pick<Thing, Key> ? Thing[Key] | null : Thing[Key];
};

/** The thing in a row, which lacks the members that are NULL. */
export function withoutNulls<Thing extends object>(row: RowOf<Thing>): Thing {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Thing;
}
