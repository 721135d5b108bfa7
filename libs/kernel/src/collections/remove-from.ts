/**
 * Removes an item from an unordered array.
 *
 * What is in flight belongs in an array rather than in a `Set` or `Map`. After some additions and removals, V8
 * gives these a new table, and the old one refers to it. Once an old table has been promoted to the old
 * generation, it keeps all tables after it and everything in them alive until the next full garbage collection.
 */
export function removeFrom<Item>(items: Item[], item: Item): void {
  const at = items.indexOf(item);
  if (at === -1) return;
  const last = items.pop()!;
  if (at < items.length) items[at] = last;
}
