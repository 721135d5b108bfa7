import { applyDecorators } from '@nestjs/common';
import {
  Check,
  Field,
  type HrefBuilder,
  IsChoice,
  IsString,
  IsTime,
  parseTime,
  schema,
} from '#libs/http';
import { isStorable } from '#libs/kernel';
import type { Credential } from '../domain/credential.js';
import { EXPIRY_RULE, isExpiry } from '../domain/expiry.js';
import { hasPasswordLength, PASSWORD_MAX, PASSWORD_MIN } from '../domain/password.js';
import { type Role, ROLES, type Status, STATUSES, type User } from '../domain/user.js';
import { isUsername, USERNAME, USERNAME_RULE } from '../domain/username.js';

const isString = (value: unknown): value is string => typeof value === 'string';

function IsUsername(): PropertyDecorator {
  return applyDecorators(
    IsString(),
    Check('format', USERNAME_RULE, (value) => !isString(value) || isUsername(value), {
      pattern: USERNAME.source,
    }),
  );
}

function IsPassword(): PropertyDecorator {
  return applyDecorators(
    IsString(),
    Check(
      'length',
      `must have ${PASSWORD_MIN} to ${PASSWORD_MAX} characters`,
      (value) => !isString(value) || hasPasswordLength(value),
      { minLength: PASSWORD_MIN, maxLength: PASSWORD_MAX },
    ),
    Check(
      'format',
      'must not contain U+0000 or lone surrogates',
      (value) => !isString(value) || isStorable(value),
      { pattern: '^[^\\u0000]*$' },
    ),
  );
}

function IsExpiry(): PropertyDecorator {
  const isPast = (time: Date | undefined): boolean => time !== undefined && !isExpiry(time);
  return applyDecorators(
    IsTime(),
    Check('range', EXPIRY_RULE, (value) => !isString(value) || !isPast(parseTime(value))),
  );
}

const PASSWORD = {
  about: 'Without it, the service generates a password and shows it only in this answer.',
  example: 'correct horse battery staple',
};

/** The body of `POST /v1/users`. */
export class CreateUserDto {
  @Field({ required: true, about: 'Unique.', example: 'partner.one' })
  @IsUsername()
  username!: string;

  @Field({ about: 'The role.', example: 'account', default: 'account' })
  @IsChoice(ROLES)
  role?: Role;

  @Field(PASSWORD)
  @IsPassword()
  password?: string;
}

/** The body of `PUT /v1/users/:id`. */
export class UpdateUserDto {
  @Field({ about: "A locked user's credentials are refused.", example: 'locked' })
  @IsChoice(STATUSES)
  status?: Status;
}

/** The body of `POST /v1/users/:id/credentials`. */
export class CreateCredentialDto {
  @Field(PASSWORD)
  @IsPassword()
  password?: string;

  @Field({
    about: 'When the credential expires; by default never.',
    example: '2099-12-31T23:59:59.000Z',
  })
  @IsExpiry()
  expiresAt?: string;
}

const credential = {
  id: schema.numericId('The id.', '7'),
  createdAt: schema.time('When it was created.'),
  expiresAt: schema.time('When it expires or has expired, if ever.', '2099-12-31T23:59:59.000Z'),
  lastUsedAt: schema.time('When it was last used, if ever; accurate to about a minute.'),
};
const OPTIONAL = { optional: ['expiresAt', 'lastUsedAt'] } as const;

const user = {
  href: schema.href('The address.', 'users/83346'),
  id: schema.integer('The id, which is also the id of the account.', 83346),
  username: schema.text('The username.', 'partner.one'),
  role: schema.choice('The role.', ROLES),
  status: schema.choice("A locked user's credentials are refused.", STATUSES),
  joinDate: schema.time('When it was created.'),
};

/** The result of {@link showUser} in lists. */
export const UserSchema = schema.named('User', schema.object(user));

/** The result of {@link showUser} for one user. */
export const UserWithCredentialsSchema = schema.named(
  'UserWithCredentials',
  schema.object({
    ...user,
    credentials: schema.arrayOf(
      schema.named('CredentialSummary', schema.object(credential, OPTIONAL)),
    ),
  }),
);

const credentialAddress = schema.href('The address.', 'users/83346/credentials/7');

/** The result of {@link showCredential}. */
export const CredentialSchema = schema.named(
  'Credential',
  schema.object({ href: credentialAddress, ...credential }, OPTIONAL),
);

const password = schema.text(
  'Only if it was generated, and only in this answer.',
  'Zr0vD8cP1mXyq4Lw',
);

/** The answer to a new user. */
export const CreatedUserSchema = schema.named(
  'CreatedUser',
  schema.object(
    { href: schema.href('The address.', 'users/83346'), password },
    { optional: ['password'] },
  ),
);

/** The answer to a new credential. */
export const CreatedCredentialSchema = schema.named(
  'CreatedCredential',
  schema.object({ href: credentialAddress, password }, { optional: ['password'] }),
);

/** A user in the form that answers contain; lists omit its credentials. */
export function showUser(user: User, href: HrefBuilder, credentials?: Credential[]): object {
  const { id, username, role, status, joinDate } = user;
  return {
    href: href('users', id),
    id: Number(id),
    username,
    role,
    status,
    joinDate,
    ...(credentials && { credentials: credentials.map(summaryOf) }),
  };
}

export function showCredential(credential: Credential, href: HrefBuilder): object {
  return { href: credentialHref(credential, href), ...summaryOf(credential) };
}

export function credentialHref({ id, userId }: Credential, href: HrefBuilder): string {
  return href('users', userId, 'credentials', id);
}

function summaryOf({ id, createdAt, expiresAt, lastUsedAt }: Credential): object {
  return { id, createdAt, ...(expiresAt && { expiresAt }), ...(lastUsedAt && { lastUsedAt }) };
}
