/** A time range, in ISO 8601. */
export interface Span {
  since: string;
  until: string;
}

/** One quantity of a chart, with a value for each of the chart's time ranges. */
export interface Series {
  name: string;
  colour: 'good' | 'bad' | 'warn' | 'accent';
  /** Null where there is no value. */
  values: readonly (number | null)[];
}

/** Bars are stacked, the first series at the bottom. */
export type ChartKind = 'bars' | 'lines';

/** The tops of stacked bars: each series plus the ones below it. */
export function stacked(series: readonly Series[]): number[][] {
  const tops: number[][] = [];
  for (const { values } of series) {
    const below = tops.at(-1);
    tops.push(values.map((value, index) => (value ?? 0) + (below?.[index] ?? 0)));
  }
  return tops;
}

/** The smallest round number at or above a value. Half of it is a whole number, unless it is 1. */
export function roundTop(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10].find(
    (each) => each * power >= value && (each * power) % 2 === 0,
  );
  return Math.round((step ?? 2) * power);
}

/** The indexes of values without a neighbour on either side. */
export function loneOf(values: ArrayLike<number | null | undefined>): number[] {
  const isThere = (index: number) => values[index] !== null && values[index] !== undefined;
  return Array.from(values, (_, index) => index).filter(
    (index) => isThere(index) && !isThere(index - 1) && !isThere(index + 1),
  );
}

/** The middle of each time range, in Unix seconds. */
export function middlesOf(spans: readonly Span[]): number[] {
  return spans.map(({ since, until }) => (Date.parse(since) + Date.parse(until)) / 2_000);
}

const DAY_MS = 86_400_000;
const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const inDay = new Intl.DateTimeFormat(undefined, clock);
const inWeek = new Intl.DateTimeFormat(undefined, { weekday: 'short', ...clock });

/** Labels of time ranges in the viewer's zone, with the weekday if all are longer than an hour. */
export function spanNames(spans: readonly Span[]): string[] {
  const length = Date.parse(spans.at(-1)?.until ?? '') - Date.parse(spans[0]?.since ?? '');
  const format = length > DAY_MS / 12 ? inWeek : inDay;
  return spans.map(
    ({ since, until }) => `${format.format(new Date(since))} – ${inDay.format(new Date(until))}`,
  );
}
