import { EntitySchema } from 'typeorm';
import { identityColumn } from '#libs/runtime';
import { Application } from '../domain/application.js';

/** Maps {@link Application} to its table, which the migrations create. */
export const ApplicationSchema = new EntitySchema<Application>({
  name: 'Application',
  target: Application,
  tableName: 'applications',
  columns: {
    id: identityColumn('applications_pkey'),
    userId: { name: 'user_id', type: 'bigint' },
    name: { type: 'text' },
    apiType: { name: 'api_type', type: 'text' },
    voiceUrl: { name: 'voice_url', type: 'text', nullable: true },
    messagingUrl: { name: 'messaging_url', type: 'text', nullable: true },
    environmentId: { name: 'environment_id', type: 'bigint', nullable: true },
    partition: { type: 'text', nullable: true },
    version: { type: 'integer', default: 1 },
    createdAt: { name: 'created_at', type: 'timestamptz', default: () => 'now()' },
    updatedAt: { name: 'updated_at', type: 'timestamptz', default: () => 'now()' },
    deletedAt: { name: 'deleted_at', type: 'timestamptz', nullable: true },
  },
  foreignKeys: [
    {
      name: 'applications_user_fkey',
      target: 'User',
      columnNames: ['userId'],
      referencedColumnNames: ['id'],
    },
    {
      name: 'applications_environment_fkey',
      target: 'Environment',
      columnNames: ['environmentId'],
      referencedColumnNames: ['id'],
    },
  ],
  checks: [
    {
      name: 'applications_api_type_check',
      expression: "api_type IN ('scripting', 'webapi')",
    },
    {
      name: 'applications_url_check',
      expression: 'voice_url IS NOT NULL OR messaging_url IS NOT NULL',
    },
  ],
  indices: [
    { name: 'applications_user_idx', columns: ['userId', 'id'], where: '(deleted_at IS NULL)' },
  ],
});
