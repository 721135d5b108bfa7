import { EntitySchema } from 'typeorm';
import { type DatabaseSchema, identityColumn, idsContinueAfterImport } from '#libs/runtime';
import { Application } from '../domain/application.js';
import { migrations } from './migrations.js';

/** Maps {@link Application} to its table. Indexes and checks are only in the migrations. */
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
});

export const applicationsSchema: DatabaseSchema = {
  migrations,
  tables: { applications: { api: 'SELECT, INSERT, UPDATE' } },
  functions: {
    // Moves the sequence past imported ids. No other sequence needs that.
    'raise_application_ids()': { api: 'EXECUTE' },
  },
  script: () => idsContinueAfterImport('raise_application_ids', 'applications'),
};
