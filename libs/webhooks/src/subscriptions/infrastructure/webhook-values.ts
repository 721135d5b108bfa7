import type { QueryDeepPartialEntity } from 'typeorm';
import { NEXT, NOW } from '../domain/subscription-life.js';
import type { Webhook } from '../domain/webhook.js';
import { WebhookSchema } from './webhook.schema.js';

/** Written with every change that a client made or can see. */
export const REVISED = { version: NEXT, updatedAt: NOW } as const;

/** New column values, as the functions in `subscription-life.ts` return them. */
type Values = Partial<Record<keyof Webhook, unknown>>;

/** Converts the values for TypeORM. */
export function typeOrmValues(values: Values): QueryDeepPartialEntity<Webhook> {
  const entries = Object.entries(values).map(([property, value]) => [
    property,
    value === NOW || value === NEXT ? () => sqlOf(property as keyof Webhook, value) : value,
  ]);
  return Object.fromEntries(entries) as QueryDeepPartialEntity<Webhook>;
}

/**
 * Assignments for an UPDATE of `webhooks w`: the columns get the values of the case whose name the
 * expression yields, or stay if no case matches. All cases have the same columns.
 */
export function assignedWhere(expression: string, cases: Readonly<Record<string, Values>>): string {
  const columns = Object.keys(Object.values(cases)[0] ?? {}) as (keyof Webhook)[];
  const assignments = columns.map((property) => {
    const column = columnOf(property);
    const whens = Object.entries(cases).map(
      ([name, values]) => `WHEN '${name}' THEN ${sqlOf(property, values[property], 'w.')}`,
    );
    return `${column} = CASE ${expression} ${whens.join(' ')} ELSE w.${column} END`;
  });
  return assignments.join(',\n    ');
}

const COLUMNS: Partial<Record<keyof Webhook, { name?: string }>> = WebhookSchema.options.columns;

function columnOf(property: keyof Webhook): string {
  return COLUMNS[property]?.name ?? property;
}

/** SQL for a value from `subscription-life.ts`. No client input reaches this function. */
function sqlOf(property: keyof Webhook, value: unknown, row = ''): string {
  if (value === NOW) return 'now()';
  if (value === NEXT) return `${row}${columnOf(property)} + 1`;
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string' && /^\w+$/.test(value)) return `'${value}'`;
  throw new Error(`there is no SQL for ${property}`);
}
