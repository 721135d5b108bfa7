/**
 * A variable's properties in the schema.
 * @typedef {{ description?: string, default?: unknown, minimum?: number, maximum?: number, enum?: unknown[], readBy?: string[] }} Variable
 * @typedef {[variable: string, byDefault: string, values: string, readers: string, meaning: string]} Row
 */

/** @type {Row} */
const HEAD = ['variable', 'default', 'values', 'read by', 'what it is'];

/** The settings that an installation sets first, in this order. */
const FIRST = [
  ...[
    'DATABASE_URL',
    'REDIS_URL',
    'SECRETS_KEYS',
    'NODE_ENV',
    'PUBLIC_BASE_URL',
    'TRUSTED_PROXIES',
  ],
  ...['API_PROCESSES', 'WORKER_PROCESSES', 'METRICS_PORT', 'RETENTION_DAYS'],
];

/**
 * The tables of docs/configuration.md in Markdown: the settings that an installation sets first, and the others.
 * @param {{ properties?: object, required?: string[] }} schema the JSON Schema of the configuration
 */
export function configTables({ properties = {}, required = [] }) {
  /** @type {Record<string, Variable>} */
  const variables = { ...properties };
  /** @type {(names: string[]) => string} */
  const tableOf = (names) =>
    table([HEAD, ...names.map((name) => rowOf(name, variables[name], required.includes(name)))]);
  const others = Object.keys(variables).filter((name) => !FIRST.includes(name));
  return { first: tableOf(FIRST), rarely: tableOf(others) };
}

/** @type {(name: string, variable: Variable | undefined, isRequired: boolean) => Row} */
function rowOf(name, variable = {}, isRequired) {
  const { description, readBy = ['all'] } = variable;
  if (description === undefined) throw new Error(`${name} has no description`);
  const values = valuesOf(variable);
  return [code(name), defaultOf(variable, isRequired), values, readBy.join(', '), description];
}

/** @type {(variable: Variable, isRequired: boolean) => string} */
function defaultOf(variable, isRequired) {
  if (isRequired) return 'required';
  return variable.default === undefined || variable.default === '' ? '' : code(variable.default);
}

/** @type {(variable: Variable) => string} */
function valuesOf({ enum: choices, minimum, maximum }) {
  if (choices) return choices.map(code).join(', ');
  return minimum !== undefined && maximum !== undefined ? `${minimum} to ${maximum}` : '';
}

/** @type {(value: unknown) => string} */
function code(value) {
  return `\`${String(value)}\``;
}

/**
 * Pads columns like prettier, so that formatting changes nothing.
 * @param {Row[]} rows
 */
function table(rows) {
  const widths = HEAD.map((_, column) =>
    Math.max(...rows.map((row) => /** @type {string} */ (row[column]).length)),
  );
  const lines = rows.map((row) =>
    line(row.map((cell, column) => cell.padEnd(/** @type {number} */ (widths[column])))),
  );
  lines.splice(1, 0, line(widths.map((width) => '-'.repeat(width))));
  return lines.join('\n');
}

/** @type {(cells: string[]) => string} */
function line(cells) {
  return `| ${cells.join(' | ')} |`;
}
