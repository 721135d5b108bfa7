import { EntitySchema } from 'typeorm';
import { type DatabaseSchema, identityColumn, idsContinueAfterImport } from '#libs/runtime';
import { Credential } from '../domain/credential.js';
import { Environment } from '../domain/environments.service.js';
import { User } from '../domain/user.js';
import { migrations } from './migrations.js';

// These map the domain's classes to their tables. Indexes and checks are only in the migrations.

export const UserSchema = new EntitySchema<User>({
  name: 'User',
  target: User,
  tableName: 'users',
  columns: {
    id: identityColumn('users_pkey'),
    username: { type: 'text' },
    role: { type: 'text' },
    status: { type: 'text' },
    salt: { type: 'bytea' },
    joinDate: { name: 'join_date', type: 'timestamptz', default: () => 'now()' },
  },
  uniques: [{ name: 'users_username_key', columns: ['username'] }],
});

export const CredentialSchema = new EntitySchema<Credential>({
  name: 'Credential',
  target: Credential,
  tableName: 'credentials',
  columns: {
    id: identityColumn('credentials_pkey'),
    userId: { name: 'user_id', type: 'bigint' },
    name: { type: 'text', nullable: true },
    scope: { type: 'text', default: 'manage' },
    hash: { type: 'bytea' },
    createdAt: { name: 'created_at', type: 'timestamptz', default: () => 'now()' },
    expiresAt: { name: 'expires_at', type: 'timestamptz', nullable: true },
    lastUsedAt: { name: 'last_used_at', type: 'timestamptz', nullable: true },
  },
  foreignKeys: [
    {
      name: 'credentials_user_fkey',
      // A name, because TypeORM would call a class as a function here.
      target: 'User',
      columnNames: ['userId'],
      referencedColumnNames: ['id'],
    },
  ],
});

export const EnvironmentSchema = new EntitySchema<Environment>({
  name: 'Environment',
  target: Environment,
  tableName: 'environments',
  columns: {
    id: identityColumn('environments_pkey'),
    name: { type: 'text' },
    type: { type: 'text' },
    billable: { type: 'boolean' },
  },
});

export const identitySchema: DatabaseSchema = {
  migrations,
  tables: {
    users: { api: 'SELECT, INSERT, UPDATE (status)' },
    credentials: { api: 'SELECT, INSERT, DELETE, UPDATE (last_used_at)' },
    sessions: { api: 'SELECT, INSERT, DELETE, UPDATE (used_at)' },
    links: { api: 'SELECT, INSERT, DELETE, UPDATE (used_at)' },
    environments: { api: 'SELECT, INSERT' },
    // Append-only. Every process that changes something writes to it.
    audit: { api: 'SELECT, INSERT', worker: 'INSERT' },
  },
  functions: { 'raise_user_ids()': { api: 'EXECUTE' } },
  script: () => idsContinueAfterImport('raise_user_ids', 'users'),
};
