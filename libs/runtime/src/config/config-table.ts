import { configJsonSchema } from './config.js';

/** A variable's properties in the schema. */
interface Variable {
  description?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  enum?: unknown[];
}

type Row = [variable: string, byDefault: string, values: string, meaning: string];

const HEAD: Row = ['variable', 'default', 'values', 'what it is'];

/** The table of docs/configuration.md in Markdown, generated from the schema. */
export function configTable(): string {
  const { properties = {}, required = [] } = configJsonSchema();
  const rows = Object.entries(properties).map(([name, variable]) =>
    rowOf(name, variable as Variable, required.includes(name)),
  );
  return table([HEAD, ...rows]);
}

function rowOf(name: string, variable: Variable, isRequired: boolean): Row {
  const { description } = variable;
  if (description === undefined) throw new Error(`${name} has no description`);
  return [code(name), defaultOf(variable, isRequired), valuesOf(variable), description];
}

function defaultOf(variable: Variable, isRequired: boolean): string {
  if (isRequired) return 'required';
  return variable.default === undefined || variable.default === '' ? '' : code(variable.default);
}

function valuesOf({ enum: choices, minimum, maximum }: Variable): string {
  if (choices) return choices.map(code).join(', ');
  return minimum !== undefined && maximum !== undefined
    ? `${String(minimum)} to ${String(maximum)}`
    : '';
}

function code(value: unknown): string {
  return `\`${String(value)}\``;
}

/** Pads columns like prettier, so that formatting changes nothing. */
function table(rows: readonly Row[]): string {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) => line(row.map((cell, column) => cell.padEnd(widths[column]!))));
  lines.splice(1, 0, line(widths.map((width) => '-'.repeat(width))));
  return lines.join('\n');
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
