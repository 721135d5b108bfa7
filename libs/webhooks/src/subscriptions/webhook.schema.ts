import { EntitySchema, type QueryDeepPartialEntity } from 'typeorm';
import { CLOCK_TIME, identityColumn } from '#libs/runtime';
import { Webhook } from './domain/webhook.js';
import { NEXT, NOW } from './domain/subscription-life.js';
import { Filter } from '../event-kinds/domain/filter.js';

/** Maps {@link Webhook} to its table. Indexes and checks are only in the migrations. */
export const WebhookSchema = new EntitySchema<Webhook>({
  name: 'Webhook',
  target: Webhook,
  tableName: 'webhooks',
  columns: {
    id: identityColumn('webhooks_pkey'),
    accountId: { name: 'account_id', type: 'bigint' },
    applicationId: { name: 'application_id', type: 'bigint', nullable: true },
    name: { type: 'text', nullable: true },
    event: { type: 'text' },
    resource: { type: 'text' },
    targetUrl: { name: 'target_url', type: 'text' },
    userinfo: { type: 'text', nullable: true },
    targetVersion: { name: 'target_version', type: 'integer', default: 1 },
    // Not jsonb: the headers are shown in the order in which they were given.
    headers: { type: 'json', nullable: true },
    payload: { type: 'text', nullable: true },
    filter: {
      type: 'text',
      nullable: true,
      transformer: {
        from: (text: string | null) => (text === null ? null : new Filter(text)),
        to: (filter?: Filter | null) => filter?.text ?? null,
      },
    },
    filterId: { name: 'filter_id', type: 'text', nullable: true },
    enabled: { type: 'boolean' },
    disabledReason: { name: 'disabled_reason', type: 'text', nullable: true },
    disabledAt: { name: 'disabled_at', type: 'timestamptz', nullable: true },
    secret: { type: 'text' },
    publicKey: { name: 'public_key', type: 'text', nullable: true },
    retiredSecrets: { name: 'retired_secrets', type: 'jsonb', default: [] },
    holdUntil: { name: 'hold_until', type: 'timestamptz', nullable: true },
    paused: { type: 'boolean', default: false },
    retry: { type: 'jsonb', nullable: true },
    failures: { type: 'integer', default: 0 },
    failingSince: { name: 'failing_since', type: 'timestamptz', nullable: true },
    openedAt: { name: 'opened_at', type: 'timestamptz', nullable: true },
    openUntil: { name: 'open_until', type: 'timestamptz', nullable: true },
    openings: { type: 'integer', default: 0 },
    backlog: { type: 'boolean', default: false },
    maxPerSecond: { name: 'max_per_second', type: 'integer', nullable: true },
    maxConcurrent: { name: 'max_concurrent', type: 'integer', nullable: true },
    ordered: { type: 'boolean', default: false },
    accounts: { type: 'text', nullable: true },
    pacedUntil: { name: 'paced_until', type: 'timestamptz', nullable: true },
    inFlight: { name: 'in_flight', type: 'jsonb', nullable: true },
    paceWaits: { name: 'pace_waits', type: 'boolean', default: false },
    generation: { type: 'integer', default: 1 },
    cancelling: { type: 'boolean', default: false },
    version: { type: 'integer', default: 1 },
    createdAt: { name: 'created_at', type: 'timestamptz', default: () => 'now()' },
    updatedAt: { name: 'updated_at', type: 'timestamptz', default: () => 'now()' },
    deletedAt: { name: 'deleted_at', type: 'timestamptz', nullable: true },
  },
  foreignKeys: [
    {
      name: 'webhooks_account_fkey',
      target: 'User',
      columnNames: ['accountId'],
      referencedColumnNames: ['id'],
    },
    {
      name: 'webhooks_application_fkey',
      target: 'Application',
      columnNames: ['applicationId'],
      referencedColumnNames: ['id'],
    },
  ],
});

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
 * expression yields, or stay if no case matches. All cases have the same columns. The statement has {@link CLOCK_TIME}.
 */
export function assignedWhere(expression: string, cases: Readonly<Record<string, Values>>): string {
  const columns = Object.keys(Object.values(cases)[0] ?? {}) as (keyof Webhook)[];
  const assignments = columns.map((property) => {
    const column = columnOf(property);
    const whens = Object.entries(cases).map(
      ([name, values]) =>
        `WHEN '${name}' THEN ${sqlOf(property, values[property], { row: 'w.', now: CLOCK_TIME })}`,
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
function sqlOf(property: keyof Webhook, value: unknown, { row = '', now = 'now()' } = {}): string {
  if (value === NOW) return now;
  if (value === NEXT) return `${row}${columnOf(property)} + 1`;
  if (value === null || typeof value === 'boolean' || typeof value === 'number')
    return String(value);
  if (typeof value === 'string' && /^\w+$/.test(value)) return `'${value}'`;
  throw new Error(`there is no SQL for ${property}`);
}
