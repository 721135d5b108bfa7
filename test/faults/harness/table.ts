import type { Outcome } from './outcome.js';

const HEADINGS = [
  'case',
  'acknowledged',
  'arrived',
  'lost',
  'duplicates',
  'explained',
  'producers: no answer',
  'producers: 503',
  'recovery, s',
  'growth, MB',
];

/** The rows as a table in Markdown. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const cells = outcomes.map((one) => [
    one.name,
    ...[one.acknowledged, one.arrived, one.lost, one.duplicates, one.explained].map(String),
    ...[one.unanswered, one.unavailable].map(String),
    String(Math.ceil(one.recoveryS)),
    String(Math.round(one.growthMb)),
  ]);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => pad(cell, column, widths[column] ?? 0)).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(HEADINGS), rule, ...cells.map(line)].join('\n');
}

/** Names are left-aligned, numbers right-aligned. */
function pad(cell: string, column: number, width: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}
