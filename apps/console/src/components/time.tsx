import { useSyncExternalStore } from 'react';
import { relativeText, utcText } from './time-text.js';

/** One clock for all times on the page. It stops while no time is shown. */
const tickers = new Set<() => void>();
let timer: number | undefined;
let now = Date.now();

function follow(tick: () => void): () => void {
  tickers.add(tick);
  timer ??= window.setInterval(() => {
    now = Date.now();
    for (const each of tickers) each();
  }, 1_000);
  return () => {
    tickers.delete(tick);
    if (tickers.size > 0) return;
    window.clearInterval(timer);
    timer = undefined;
  };
}

/** A value derived from the current time, in ms. The component is rendered when the value changes. */
export function useNow<Value>(valueOf: (now: number) => Value): Value {
  return useSyncExternalStore(follow, () =>
    valueOf(timer === undefined ? (now = Date.now()) : now),
  );
}

/** The time from or until now, updated as it passes; the UTC time on hover. */
export function RelativeTime({ at }: { at: string }) {
  const text = useNow((time) => relativeText(Date.parse(at), time));
  return (
    <time dateTime={at} title={utcText(at)}>
      {text}
    </time>
  );
}

const inZone = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'medium',
  hourCycle: 'h23',
});
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });

const HALF_A_DAY_MS = 43_200_000;

/** Whether its time of day alone tells a time: it is today, or less than half a day away, as around midnight. */
const isNear = (time: Date): boolean =>
  time.toDateString() === new Date().toDateString() ||
  Math.abs(time.getTime() - Date.now()) < HALF_A_DAY_MS;

/** A time in the viewer's zone, without the date if it is near. */
export function localText(at: string): string {
  const time = new Date(at);
  return (isNear(time) ? clock : inZone).format(time);
}

const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

const minutes = new Intl.DateTimeFormat(undefined, {
  ...{ month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
});

/**
 * The time of day, such as `14:02:31`; the day if it is not near. The full time is shown on hover.
 * @param hasClock whether another day shows its time as well: `Nov 25, 14:02`
 */
export function ClockTime({ at, hasClock = false }: { at: string; hasClock?: boolean }) {
  const time = new Date(at);
  return (
    <time className="mono" dateTime={at} title={`${localText(at)}; ${utcText(at)}`}>
      {(isNear(time) ? clock : hasClock ? minutes : day).format(time)}
    </time>
  );
}

/** The day without the year, such as `Dec 1`. */
export function Day({ at }: { at: string }) {
  return (
    <time dateTime={at} title={`${localText(at)}; ${utcText(at)}`}>
      {day.format(new Date(at))}
    </time>
  );
}

const dayOfYear = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** The day with its year, such as `Dec 1, 2026`. */
export function DayOfYear({ at }: { at: string }) {
  return (
    <time dateTime={at} title={`${localText(at)}; ${utcText(at)}`}>
      {dayOfYear.format(new Date(at))}
    </time>
  );
}

const named = new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' });

/** The viewer's current zone: `GMT+1`. */
export function zoneText(): string | undefined {
  return named.formatToParts().find(({ type }) => type === 'timeZoneName')?.value;
}

/** {@link localText}; the UTC time on hover. */
export function LocalTime({ at }: { at: string }) {
  return (
    <time dateTime={at} title={utcText(at)}>
      {localText(at)}
    </time>
  );
}
