import { median } from './distribution.js';
import type { Bound, Row } from './scenario.js';

/** A row as it is reported. */
export interface Result extends Row {
  scenario: string;
  median: number;
  holds?: boolean;
}

export function resultOf(scenario: string, row: Row): Result {
  const middle = median(row.values);
  return {
    ...{ scenario, ...row, median: middle },
    ...(row.bound && { holds: isWithin(middle, row.bound) }),
  };
}

/** A table in Markdown, without details. */
export function tableOf(results: readonly Result[]): string {
  const shownRows = results.filter(({ isDetail }) => !isDetail);
  const rows = shownRows.map(({ scenario, what, unit, values, median: middle, bound, holds }) => [
    scenario,
    what,
    `${shown(middle)} ${unit}`.trim(),
    values.length > 1 ? `${shown(Math.min(...values))} – ${shown(Math.max(...values))}` : '',
    bound ? ('atLeast' in bound ? `≥ ${shown(bound.atLeast)}` : `≤ ${shown(bound.atMost)}`) : '',
    holds === undefined ? '' : holds ? 'reached' : 'MISSED',
  ]);
  const all = [['scenario', 'what', 'median', 'range', 'reach', ''], ...rows];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(Math.max(width, 3))).join(' | ')} |`;
  return [line(all[0]!), rule, ...rows.map(line)].join('\n');
}

function isWithin(value: number, bound: Bound): boolean {
  return 'atLeast' in bound ? value >= bound.atLeast : value <= bound.atMost;
}

function shown(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed() : value.toPrecision(3);
}
