import './language.js';
import 'uplot/dist/uPlot.min.css';
import { useEffect, useEffectEvent, useRef } from 'react';
import uPlot from 'uplot';
import { theme } from '../app/theme.js';
import {
  type ChartKind,
  loneOf,
  middlesOf,
  roundTop,
  type Series,
  type Span,
  stacked,
} from './chart-data.js';

/** In CSS pixels, as in the style sheet. */
const HEIGHT = 180;
const DASHES = [[], [6, 4], [2, 3]];
/** The system has one colour for all series: failures are hollow bars. */
const FORCED = window.matchMedia('(forced-colors: active)');

/** The canvas of a chart. Its file, with uPlot, is loaded when the first chart is shown. */
export default function Plot({
  kind,
  spans,
  series,
  textOf,
  onPoint,
}: {
  kind: ChartKind;
  spans: readonly Span[];
  series: readonly Series[];
  textOf: (value: number) => string;
  /** Called with the index of the time range under the pointer. */
  onPoint: (index: number | undefined) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const text = useEffectEvent((value: number) => textOf(value));
  const point = useEffectEvent((index: number | undefined) => onPoint(index));
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    let plot = draw();

    function draw(): uPlot {
      const values =
        kind === 'bars'
          ? stacked(series)
          : // Omit the last, incomplete time range, unless it is the only one with a value.
            series.map(({ values: [...all] }) =>
              all.slice(0, -1).some((value) => value !== null) ? [...all.slice(0, -1), null] : all,
            );
      const lines = series.map((one, index) => lineOf(one, index));
      // Draw the tallest bars first, behind the others.
      if (kind === 'bars') [values, lines].forEach((each) => each.reverse());
      return new uPlot(
        {
          ...optionsOf(element!, spans, { kind, text }),
          series: [{}, ...lines],
          hooks: { setCursor: [({ cursor }) => point(cursor.idx ?? undefined)] },
        },
        [middlesOf(spans), ...values],
        element!,
      );
    }
    function lineOf({ colour }: Series, index: number): uPlot.Series {
      const stroke = colourOf(element!, colour === 'accent' ? colour : `${colour}-solid`);
      if (kind === 'bars') {
        const paler = `color-mix(in srgb, ${stroke} 45%, ${colourOf(element!, 'surface')})`;
        if (FORCED.matches && colour === 'bad') return hollow(stroke);
        const paths = bars({ colour: stroke, ofLast: paler });
        return { fill: stroke, width: 0, paths, points: { show: false } };
      }
      return {
        stroke,
        width: 1.5,
        dash: DASHES[index] ?? [],
        points: {
          show: true,
          size: 5,
          fill: stroke,
          // A line needs two values.
          filter: (shown, of) => loneOf(shown.data[of] ?? []),
        },
      };
    }
    function drawAgain(): void {
      plot.destroy();
      plot = draw();
    }

    const observer = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    observer.observe(element);
    const ofSystem = window.matchMedia('(prefers-color-scheme: dark)');
    ofSystem.addEventListener('change', drawAgain);
    FORCED.addEventListener('change', drawAgain);
    const unfollow = theme.follow(drawAgain);
    return () => {
      ofSystem.removeEventListener('change', drawAgain);
      FORCED.removeEventListener('change', drawAgain);
      unfollow();
      observer.disconnect();
      plot.destroy();
      point(undefined);
    };
  }, [kind, spans, series]);
  return <div className="plot" ref={place} />;
}

const hollow = (stroke: string): uPlot.Series => ({
  stroke,
  width: 1,
  paths: uPlot.paths.bars!({ size: [0.85, 64] }),
  points: { show: false },
});

/** The last bar has another colour because its time range is incomplete. */
const bars = ({ colour, ofLast }: { colour: string; ofLast: string }) =>
  uPlot.paths.bars!({
    size: [0.85, 64],
    radius: [0.06, 0],
    disp: {
      fill: {
        // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- a const enum: Color has no name at run time
        unit: 3,
        values: ({ data: [times] }) =>
          Array.from(times, (_, index) => (index === times.length - 1 ? ofLast : colour)),
      },
    },
  });

function optionsOf(
  element: HTMLElement,
  spans: readonly Span[],
  { kind, text }: { kind: ChartKind; text: (value: number) => string },
): Omit<uPlot.Options, 'series'> {
  const axis = {
    stroke: colourOf(element, 'faint'),
    font: '11px Inter, sans-serif',
    grid: { stroke: colourOf(element, 'line'), width: 1 },
    ticks: { show: false },
  };
  const start = Date.parse(spans[0]?.since ?? '') / 1_000;
  const end = Date.parse(spans.at(-1)?.until ?? '') / 1_000;
  return {
    width: element.clientWidth,
    height: HEIGHT,
    padding: [8, 18, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === 'lines' } },
    scales: {
      x: { range: [start, end] },
      y: { range: (_, _min, max) => [0, roundTop(max)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 26,
        space: 70,
        values: (_, times) => timeNames(times, end - start),
      },
      {
        ...axis,
        size: 48,
        splits: (_plot, _axis, _min, top) => (top > 1 ? [0, top / 2, top] : [0, top]),
        values: (_, values) => values.map((value) => (value === 0 ? '0' : text(value))),
      },
    ],
  };
}

const inDay = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const inWeek = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric' });

function timeNames(times: readonly number[], seconds: number): string[] {
  const format = seconds > 2 * 86_400 ? inWeek : inDay;
  return times.map((time) => format.format(new Date(time * 1_000)));
}

/** A colour of the style sheet for a canvas: resolves `light-dark()`. */
function colourOf(element: HTMLElement, name: string): string {
  element.style.color = `var(--${name})`;
  const colour = getComputedStyle(element).color;
  element.style.color = '';
  return colour;
}
