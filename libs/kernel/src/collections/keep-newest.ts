/** Removes the oldest entries of a map until at most `most` are left. */
export function keepNewest(map: Map<unknown, unknown>, most: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
