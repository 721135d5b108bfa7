import type { Span } from './history.js';

/** A value that was written at some moment of the span. */
export interface Write<Value> extends Span {
  value: Value;
}

/**
 * The values that a read during the span `at` may have seen. The read may see a write that began before the read ended,
 * unless a later write began after the end of the first one and finished before the read.
 */
export function possibleValues<Value>(
  initial: Value,
  writes: readonly Write<Value>[],
  at: Span,
): Set<Value> {
  const all = [{ value: initial, from: -Infinity, to: -Infinity }, ...writes];
  const isReplaced = ({ to }: Span) =>
    writes.some((later) => later.from > to && later.to < at.from);
  return new Set(
    all.filter((write) => write.from <= at.to && !isReplaced(write)).map(({ value }) => value),
  );
}
