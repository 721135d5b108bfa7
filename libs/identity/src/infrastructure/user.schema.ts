import { EntitySchema } from 'typeorm';
import { identityColumn } from '#libs/runtime';
import { User } from '../domain/user.js';

/** Maps {@link User} to its table. Indexes and checks are only in the migrations. */
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
