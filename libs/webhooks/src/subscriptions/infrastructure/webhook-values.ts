import type { QueryDeepPartialEntity } from 'typeorm';
import { NEXT, NOW } from '../domain/subscription-life.js';
import type { Webhook } from '../domain/webhook.js';
import { WebhookSchema } from './webhook.schema.js';

/** What a change that a client may see, or that a client made, writes beside what it changes. */
export const REVISED = { version: NEXT, updatedAt: NOW } as const;

/** New values of columns, as the rules of a subscription's life give them. */
type Values = Partial<Record<keyof Webhook, unknown>>;

/** The values as TypeORM takes them. */
export function typeOrmValues(values: Values): QueryDeepPartialEntity<Webhook> {
  const entries = Object.entries(values).map(([property, value]) => [
    property,
    value === NOW || value === NEXT ? () => sqlOf(property as keyof Webhook, value) : value,
  ]);
  return Object.fromEntries(entries) as QueryDeepPartialEntity<Webhook>;
}

/**
 * Assignments of an UPDATE of `webhooks w`: the values of the case that an expression names; what is
 * in no case, and all when it names none, stays. Every case has the same columns.
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

/** SQL of a value that the rules give: none of them is a client's. */
function sqlOf(property: keyof Webhook, value: unknown, row = ''): string {
  if (value === NOW) return 'now()';
  if (value === NEXT) return `${row}${columnOf(property)} + 1`;
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string' && /^\w+$/.test(value)) return `'${value}'`;
  throw new Error(`there is no SQL for ${property}`);
}
