import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Result } from './report.js';
import {
  apart,
  circle,
  INK,
  linearTicks,
  logTicks,
  polyline,
  rect,
  scale,
  segment,
  short,
  svg,
  text,
  WIDTH,
} from './svg.js';

const [MUTED, GRID] = ['#5b6675', '#e3e7ec'];
/** Each is clearly lighter than the one before, so that they differ in greyscale. */
const SHADES = ['#12355b', '#3f88c5', '#f2a541', '#cfd4da'];
const PARTS = ['API', 'worker', 'PostgreSQL', 'Redis'];
const PLOT = { left: 64, right: WIDTH - 92, top: 78 };

/** Each picture, drawn from the results of one or several runs. */
export const pictures: Record<string, (results: readonly Result[]) => string> = {
  'rate-latency.svg': rateLatency,
  'cost-size.svg': costSize,
  'cpu.svg': cpuOfEvent,
};

/** @returns a sentence for each picture that lacks its rows; the others are written */
export async function writePictures(dir: string, results: readonly Result[]): Promise<string[]> {
  await mkdir(dir, { recursive: true });
  const failures: string[] = [];
  for (const [name, draw] of Object.entries(pictures)) {
    try {
      await writeFile(join(dir, name), draw(results));
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return failures;
}

function rateLatency(results: readonly Result[]): string {
  const lines = [
    { name: 'p50', color: SHADES[0]!, dash: '' },
    { name: 'p99', color: '#c4510c', dash: '7 4' },
  ].map((line) => ({ ...line, points: atRates(results, line.name) }));
  const values = lines.flatMap(({ points }) => points.flatMap(({ row }) => [...row.values]));
  const domain = [Math.min(...values), Math.max(...values)] as const;
  const bottom = 350;
  const marks = logTicks(domain);
  const y = scale([marks[0]!, marks.at(-1)!], [bottom, PLOT.top], Math.log10);
  const most = Math.max(...lines.flatMap(({ points }) => points.map(({ rate }) => rate)));
  const x = scale([0, most], [PLOT.left, PLOT.right]);
  const drawn = lines.flatMap(({ name, color, dash, points }) => [
    ...points.map(({ rate, row }) =>
      segment([x(rate), y(Math.min(...row.values))], [x(rate), y(Math.max(...row.values))], color),
    ),
    polyline(
      points.map(({ rate, row }) => [x(rate), y(row.median)] as const),
      color,
      dash,
    ),
    ...points.map(({ rate, row }) => circle([x(rate), y(row.median)], color)),
    ...points
      .slice(0, -1)
      .map(({ rate, row }) =>
        text(x(rate) + 6, y(row.median) - 8, short(row.median), { color, size: 12 }),
      ),
    text(
      PLOT.right + 10,
      y(points.at(-1)!.row.median) + 5,
      `${name} ${short(points.at(-1)!.row.median)}`,
      {
        color,
        bold: true,
      },
    ),
  ]);
  return svg(bottom + 60, 'Time from accepting an event to its arrival at the target', [
    text(PLOT.left, 56, 'milliseconds, logarithmic; medians, with lowest and highest round', {
      color: MUTED,
    }),
    ...marks.flatMap((mark) => [
      segment([PLOT.left, y(mark)], [PLOT.right, y(mark)], GRID),
      text(PLOT.left - 8, y(mark) + 4, short(mark), { color: MUTED, anchor: 'end' }),
    ]),
    ...linearTicks(most).flatMap((mark) => [
      segment([x(mark), bottom], [x(mark), bottom + 5], MUTED),
      text(x(mark), bottom + 20, short(mark), { color: MUTED, anchor: 'middle' }),
    ]),
    segment([PLOT.left, bottom], [PLOT.right, bottom], MUTED),
    text((PLOT.left + PLOT.right) / 2, bottom + 42, 'events a second', {
      color: MUTED,
      anchor: 'middle',
    }),
    ...drawn,
  ]);
}

function costSize(results: readonly Result[]): string {
  const rows = rowsOf(
    results,
    'growth or stored',
    (row) =>
      ['growth', 'stored'].includes(row.scenario) && row.unit === '' && row.what.includes(' / '),
  );
  const most = Math.max(1.25, ...rows.flatMap(({ values }) => [...values])) * 1.05;
  const x = scale([0, most], [24, PLOT.right]);
  const bottom = PLOT.top + rows.length * 42 + 6;
  const bars = rows.flatMap(({ what, median, values }, index) => {
    const top = PLOT.top + 12 + index * 42;
    const highest = Math.max(...values);
    return [
      text(24, top + 4, what),
      rect([x(0), top + 10], [x(median) - x(0), 16], SHADES[1]!),
      segment([x(Math.min(...values)), top + 18], [x(highest), top + 18], INK),
      text(x(Math.max(median, highest)) + 8, top + 23, median.toFixed(2), { bold: true }),
    ];
  });
  return svg(bottom + 50, 'Cost with much stored, against the cost with little', [
    text(
      24,
      56,
      'ratio; 1.0 means that size costs nothing; medians, with lowest and highest round',
      { color: MUTED },
    ),
    ...linearTicks(most).flatMap((mark) => [
      segment([x(mark), PLOT.top], [x(mark), bottom], GRID),
      text(x(mark), bottom + 18, short(mark), { color: MUTED, anchor: 'middle' }),
    ]),
    ...bars,
    polyline(
      [
        [x(1), PLOT.top],
        [x(1), bottom],
      ],
      '#c4510c',
      '5 4',
    ),
    text((24 + PLOT.right) / 2, bottom + 38, 'large / small', { color: MUTED, anchor: 'middle' }),
  ]);
}

function cpuOfEvent(results: readonly Result[]): string {
  const byPart = PARTS.map((part) => atRates(results, `CPU for an event, ${part},`));
  const full = PARTS.map((part) =>
    rowsOf(
      results,
      'single',
      (row) => row.scenario === 'single' && row.what === `CPU for an event: ${part}`,
    ),
  );
  const bars = [
    ...byPart[0]!.map(({ rate }, index) => ({
      name: `${short(rate)} a second`,
      parts: byPart.map((points) => (points[index]?.row.median ?? NaN) / 1_000),
    })),
    { name: 'full load', parts: full.map(([row]) => row!.median / 1_000) },
  ];
  const most = Math.max(...bars.map(({ parts }) => sum(parts)));
  const x = scale([0, most], [120, PLOT.right - 20]);
  const top = PLOT.top + 24;
  const bottom = top + bars.length * 38;
  const drawn = bars.flatMap(({ name, parts }, index) => {
    const y = top + 6 + index * 38;
    return [
      text(110, y + 18, name, { anchor: 'end' }),
      ...parts.map((part, of) => {
        const from = x(sum(parts.slice(0, of)));
        return rect([from, y], [x(part) - x(0), 26], SHADES[of]!);
      }),
      text(x(sum(parts)) + 8, y + 18, `${sum(parts).toFixed(2)} ms`, { bold: true }),
    ];
  });
  const first = bars[0]!.parts;
  const middles = first.map((part, of) => x(sum(first.slice(0, of)) + part / 2));
  const labels = apart(middles, 78).map((at, of) => {
    const line = segment([at, top - 6], [middles[of]!, top + 6], MUTED);
    return line + text(at, top - 12, PARTS[of]!, { anchor: 'middle', bold: true });
  });
  return svg(bottom + 56, 'CPU time for an event, by process', [
    text(24, 56, 'milliseconds of one core, from accepting to the recorded delivery; medians', {
      color: MUTED,
    }),
    ...linearTicks(most).flatMap((mark) => [
      segment([x(mark), top], [x(mark), bottom], GRID),
      text(x(mark), bottom + 18, short(mark), { color: MUTED, anchor: 'middle' }),
    ]),
    ...drawn,
    ...labels,
    text((120 + PLOT.right) / 2, bottom + 40, 'CPU time for an event, ms', {
      color: MUTED,
      anchor: 'middle',
    }),
  ]);
}

/** Rows of the scenario `rates` with this prefix, lowest rate first. */
function atRates(results: readonly Result[], what: string): { rate: number; row: Result }[] {
  const start = `${what} at `;
  return rowsOf(
    results,
    'rates',
    (row) => row.scenario === 'rates' && row.what.startsWith(start),
    what,
  )
    .map((row) => ({ rate: Number.parseInt(row.what.slice(start.length), 10), row }))
    .toSorted((one, other) => one.rate - other.rate);
}

function rowsOf(
  results: readonly Result[],
  scenario: string,
  belongs: (row: Result) => boolean,
  what = 'with a ratio',
): Result[] {
  const rows = results.filter(belongs);
  if (rows.length === 0) throw new Error(`the run has no rows ${what} of the scenario ${scenario}`);
  const broken = rows.find(({ median, values }) => ![median, ...values].every(Number.isFinite));
  if (broken) throw new Error(`${broken.what}: not every round has a value`);
  return rows;
}

function sum(all: readonly number[]): number {
  return all.reduce((total, value) => total + value, 0);
}
