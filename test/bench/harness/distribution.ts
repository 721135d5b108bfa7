/** A summary of many measurements. */
export interface Distribution {
  count: number;
  p50: number;
  p99: number;
  max: number;
}

export function distributionOf(values: readonly number[]): Distribution {
  const sorted = Float64Array.from(values).sort();
  const at = (part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
  return { count: sorted.length, p50: at(0.5) ?? NaN, p99: at(0.99) ?? NaN, max: at(1) ?? NaN };
}

/** The middle value; of an even number, the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const upper = values.length >> 1;
  const lower = (values.length - 1) >> 1;
  return (sorted[lower]! + sorted[upper]!) / 2;
}
