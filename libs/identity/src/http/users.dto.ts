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
  about: 'Without one, we make one up, and answer with it this once.',
  example: 'correct horse battery staple',
};

/** The body of `POST /v1/users`. */
export class CreateUserDto {
  @Field({ required: true, about: 'Unique.', example: 'partner.one' })
  @IsUsername()
  username!: string;

  @Field({ about: 'What the user may do.', example: 'account', default: 'account' })
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
    about: 'When it stops working; without it, never.',
    example: '2099-12-31T23:59:59.000Z',
  })
  @IsExpiry()
  expiresAt?: string;
}

const credential = {
  id: schema.numericId('Its id.', '7'),
  createdAt: schema.time('When it was made.'),
  expiresAt: schema.time('When it stops working, or stopped, if ever.', '2099-12-31T23:59:59.000Z'),
  lastUsedAt: schema.time('When it was last used, if ever; to about a minute.'),
};
const OPTIONAL = { optional: ['expiresAt', 'lastUsedAt'] } as const;

const user = {
  href: schema.href('Its address.', 'users/83346'),
  id: schema.integer('Its id, which is that of the account, too.', 83346),
  username: schema.text('Its name.', 'partner.one'),
  role: schema.choice('What it may do.', ROLES),
  status: schema.choice("A locked user's credentials are refused.", STATUSES),
  joinDate: schema.time('When it was made.'),
};

/** What {@link showUser} shows in lists. */
export const UserSchema = schema.named('User', schema.object(user));

/** What {@link showUser} shows of one. */
export const UserWithCredentialsSchema = schema.named(
  'UserWithCredentials',
  schema.object({
    ...user,
    credentials: schema.arrayOf(
      schema.named('CredentialSummary', schema.object(credential, OPTIONAL)),
    ),
  }),
);

const credentialAddress = schema.href('Its address.', 'users/83346/credentials/7');

/** What {@link showCredential} shows. */
export const CredentialSchema = schema.named(
  'Credential',
  schema.object({ href: credentialAddress, ...credential }, OPTIONAL),
);

const password = schema.text('Only where we made it up, and only this once.', 'Zr0vD8cP1mXyq4Lw');

/** The answer to a new user. */
export const CreatedUserSchema = schema.named(
  'CreatedUser',
  schema.object(
    { href: schema.href('Its address.', 'users/83346'), password },
    { optional: ['password'] },
  ),
);

/** The answer to a new credential. */
export const CreatedCredentialSchema = schema.named(
  'CreatedCredential',
  schema.object({ href: credentialAddress, password }, { optional: ['password'] }),
);

/** A user as answers show it; its credentials on show alone. */
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
