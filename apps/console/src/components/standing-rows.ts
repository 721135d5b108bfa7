/** Rows as they stand while somebody points at them. */
export interface Standing<Row> {
  rows: readonly Row[];
  /** How many new rows are held back. */
  held: number;
}

/**
 * The rows of a list that must not move: they keep their places, change in place, and stay even if the list no longer
 * has them. Rows behind all of them follow, since they move none; other new ones are held back.
 */
export function standingRows<Row>(
  shown: readonly Row[],
  next: readonly Row[],
  keyOf: (row: Row) => string,
): Standing<Row> {
  const places = new Map(next.map((row, place) => [keyOf(row), place]));
  const placesOfShown = shown.map((row) => places.get(keyOf(row)) ?? -1);
  const rows = shown.map((row, index) => next[placesOfShown[index]!] ?? row);
  const known = new Set(placesOfShown);
  const last = placesOfShown.reduce((most, place) => Math.max(most, place), -1);
  const following = last < 0 ? [] : next.slice(last + 1);
  const held = next.filter((_, place) => !known.has(place)).length - following.length;
  return { rows: [...rows, ...following], held };
}
