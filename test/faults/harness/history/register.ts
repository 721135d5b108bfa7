import type { Span } from './history.js';

/** A value that was set at some moment of the span. */
export interface Write<Value> extends Span {
  value: Value;
}

/**
 * Which values somebody may have seen who looked at some moment of the span `at`. A write may be seen
 * if it began before the look ended, and if none that began after its end was over before the look.
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
