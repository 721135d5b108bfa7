import { computed, type HrefBuilder, schema, viewOf } from '#libs/http';
import { Field, oneOf, parseTime } from '#libs/kernel';
import { type Credential, expiryValidator } from '../domain/credential.js';
import {
  passwordValidator,
  type Role,
  ROLES,
  type Status,
  STATUSES,
  type User,
  usernameValidator,
} from '../domain/user.js';

const PASSWORD = {
  about: 'Without it, the service generates a password and shows it only in this answer.',
  example: 'correct horse battery staple',
};

/** The body of `POST /v1/users`. */
export class CreateUserDto {
  @Field(usernameValidator, { required: true, about: 'Unique.', example: 'partner.one' })
  username!: string;

  @Field(oneOf(ROLES), { about: 'The role.', example: 'account', default: 'account' })
  role!: Role;

  @Field(passwordValidator, PASSWORD)
  password?: string;
}

/** The body of `PUT /v1/users/:id`. */
export class UpdateUserDto {
  @Field(oneOf(STATUSES), { about: "A locked user's credentials are refused.", example: 'locked' })
  status?: Status;
}

/** The body of `POST /v1/users/:id/credentials`. */
export class CreateCredentialDto {
  @Field(passwordValidator, PASSWORD)
  password?: string;

  @Field(expiryValidator, {
    about: 'When the credential expires; by default never.',
    example: '2099-12-31T23:59:59.000Z',
    read: parseTime,
  })
  expiresAt?: Date;
}

const { optional } = schema;

/** A user in lists. */
export const UserView = viewOf<User>()('User', {
  href: computed(schema.href('The address.', 'users/83346'), ({ id }, href) => href('users', id)),
  id: computed(schema.accountNumber('The id, which is also the id of the account.'), ({ id }) =>
    Number(id),
  ),
  username: schema.text('The username.', 'partner.one'),
  role: schema.choice('The role.', ROLES),
  status: schema.choice("A locked user's credentials are refused.", STATUSES),
  joinDate: schema.time('When it was created.'),
});

const CredentialSummaryView = viewOf<Credential>()('CredentialSummary', {
  id: schema.numericId('The id.', '7'),
  createdAt: schema.time('When it was created.'),
  expiresAt: optional(
    schema.time('When it expires or has expired, if ever.', '2099-12-31T23:59:59.000Z'),
  ),
  lastUsedAt: optional(schema.time('When it was last used, if ever; accurate to about a minute.')),
});

/** One user. */
export const UserWithCredentialsView = viewOf<User & { credentials: Credential[] }>()(
  'UserWithCredentials',
  {
    ...UserView.members,
    credentials: computed(schema.arrayOf(CredentialSummaryView.schema), ({ credentials }, href) =>
      credentials.map((each) => CredentialSummaryView.show(each, href)),
    ),
  },
);

const credentialAddress = schema.href('The address.', 'users/83346/credentials/7');

/** One credential. */
export const CredentialView = viewOf<Credential>()('Credential', {
  href: computed(credentialAddress, credentialHref),
  ...CredentialSummaryView.members,
});

const password = optional(
  schema.text('Only if it was generated, and only in this answer.', 'Zr0vD8cP1mXyq4Lw'),
);

/** The answer to a new user. */
export const CreatedUserSchema = schema.named(
  'CreatedUser',
  schema.object({
    href: schema.href('The address.', 'users/83346'),
    id: schema.accountNumber('The id, which is also the id of the account.'),
    password,
  }),
);

/** The answer to a change of a user. */
export const ChangedUserSchema = schema.named(
  'ChangedUser',
  schema.object({
    href: schema.href('The address.', 'users/83346'),
    id: schema.accountNumber('The id, which is also the id of the account.'),
  }),
);

/** The answer to a new credential. */
export const CreatedCredentialSchema = schema.named(
  'CreatedCredential',
  schema.object({ href: credentialAddress, id: schema.numericId('The id.', '7'), password }),
);

export function credentialHref({ id, userId }: Credential, href: HrefBuilder): string {
  return href('users', userId, 'credentials', id);
}
