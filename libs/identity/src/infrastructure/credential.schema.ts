import { EntitySchema } from 'typeorm';
import { identityColumn } from '#libs/runtime';
import { Credential } from '../domain/credential.js';

/** Maps {@link Credential} to its table. Indexes and checks are only in the migrations. */
export const CredentialSchema = new EntitySchema<Credential>({
  name: 'Credential',
  target: Credential,
  tableName: 'credentials',
  columns: {
    id: identityColumn('credentials_pkey'),
    userId: { name: 'user_id', type: 'bigint' },
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
