import { EntitySchema } from 'typeorm';
import { identityColumn } from '#libs/runtime';
import { Webhook } from '../domain/webhook.js';

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
    openUntil: { name: 'open_until', type: 'timestamptz', nullable: true },
    openings: { type: 'integer', default: 0 },
    backlog: { type: 'boolean', default: false },
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
