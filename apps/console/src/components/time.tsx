import { useSyncExternalStore } from 'react';
import { relativeText, utcText } from './time-text.js';

/** One clock for all times on the page. It stands still while no time is shown. */
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

/** A value of the present time, in ms; the component is rendered again when it changes. */
export function useNow<Value>(valueOf: (now: number) => Value): Value {
  return useSyncExternalStore(follow, () =>
    valueOf(timer === undefined ? (now = Date.now()) : now),
  );
}

/** How long ago, or in how long; it ticks. The time in UTC is shown on hover. */
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

/** A time in the viewer's zone, without the date if that is today. */
export function localText(at: string): string {
  const time = new Date(at);
  const isToday = time.toDateString() === new Date().toDateString();
  return (isToday ? clock : inZone).format(time);
}

const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

const minutes = new Intl.DateTimeFormat(undefined, {
  ...{ month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
});

/**
 * The clock's time, as `14:02:31`; of another day, the day. The whole time is shown on hover.
 * @param hasClock whether another day's time is shown, too, as `Nov 25, 14:02`
 */
export function ClockTime({ at, hasClock = false }: { at: string; hasClock?: boolean }) {
  const time = new Date(at);
  const isToday = time.toDateString() === new Date().toDateString();
  return (
    <time className="mono" dateTime={at} title={`${localText(at)}; ${utcText(at)}`}>
      {(isToday ? clock : hasClock ? minutes : day).format(time)}
    </time>
  );
}

/** The day alone, as `Dec 1`. */
export function Day({ at }: { at: string }) {
  return (
    <time dateTime={at} title={`${localText(at)}; ${utcText(at)}`}>
      {day.format(new Date(at))}
    </time>
  );
}

const named = new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' });

/** The viewer's zone at present: `GMT+1`. */
export function zoneText(): string | undefined {
  return named.formatToParts().find(({ type }) => type === 'timeZoneName')?.value;
}

/** {@link localText}. The time in UTC is shown on hover. */
export function LocalTime({ at }: { at: string }) {
  return (
    <time dateTime={at} title={utcText(at)}>
      {localText(at)}
    </time>
  );
}
