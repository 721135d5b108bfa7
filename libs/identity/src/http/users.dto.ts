import { computed, type HrefBuilder, schema, viewOf } from '#libs/http';
import { Field, oneOf, parseTime } from '#libs/kernel';
import { type CredentialScope, type Role, ROLES, SCOPES } from '../domain/access.js';
import { type AccountRemains, MOST_COUNTED } from '../domain/account-closings.js';
import { type Credential, credentialNameValidator, expiryValidator } from '../domain/credential.js';
import {
  passwordValidator,
  type Status,
  STATUSES,
  type User,
  USER_STATUSES,
  usernameValidator,
} from '../domain/user.js';

const PASSWORD = {
  about:
    'The password. By default, the service generates one and returns it only in this response.',
  example: 'correct horse battery staple',
};

const ROLES_SAY =
  "The user's role: `account` is a customer; `reporter` reports events, and does nothing else; `operator` sees all " +
  'accounts and manages users; `platform` does all of this.';
const SCOPES_SAY =
  '`manage` allows all that its user may do; `read` only GET, and no signing secret.';

/** The body of `POST /v1/users`. */
export class CreateUserDto {
  @Field(usernameValidator, {
    required: true,
    about: 'The username, which is unique.',
    example: 'partner.one',
  })
  username!: string;

  @Field(oneOf(ROLES), { about: ROLES_SAY, example: 'account', default: 'account' })
  role!: Role;

  @Field(passwordValidator, PASSWORD)
  password?: string;
}

/** The body of `PUT /v1/users/:id`. */
export class UpdateUserDto {
  @Field(oneOf(STATUSES), {
    about: 'The status. The credentials of a locked user are rejected.',
    example: 'locked',
  })
  status?: Status;
}

/** The body of `POST /v1/users/:id/credentials`. */
export class CreateCredentialDto {
  @Field(passwordValidator, PASSWORD)
  password?: string;

  @Field(credentialNameValidator, {
    trim: true,
    about: 'A label, such as the program that uses the credential.',
    example: 'Reporting job',
  })
  name?: string;

  @Field(oneOf(SCOPES), {
    about: `What the credential is for. ${SCOPES_SAY}`,
    example: 'read',
    default: 'manage',
  })
  scope?: CredentialScope;

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
  href: computed(schema.href("The user's URL.", 'users/83346'), ({ id }, href) =>
    href('users', id),
  ),
  id: computed(schema.accountNumber('The id of the user and of its account.'), ({ id }) =>
    Number(id),
  ),
  username: schema.text('The username.', 'partner.one'),
  role: schema.choice(ROLES_SAY, ROLES),
  status: schema.choice(
    'The status. The credentials of a locked user are rejected. `closing`: its data is being removed; `closed`: it has been ' +
      'removed, and its username is `closed:` and its id.',
    USER_STATUSES,
  ),
  joinDate: schema.time('When the user was created.'),
});

const CredentialSummaryView = viewOf<Credential>()('CredentialSummary', {
  id: schema.numericId("The credential's id.", '7'),
  name: optional(schema.text('The label; absent if it has none.', 'Reporting job')),
  scope: schema.choice(`What the credential is for. ${SCOPES_SAY}`, SCOPES),
  createdAt: schema.time('When the credential was created.'),
  expiresAt: optional(
    schema.time(
      'When the credential expires or expired; absent if never.',
      '2099-12-31T23:59:59.000Z',
    ),
  ),
  lastUsedAt: optional(
    schema.time(
      'The hour in which the credential was last used; absent if never.',
      '2026-01-31T12:00:00.000Z',
    ),
  ),
});

const most = MOST_COUNTED.toLocaleString('en');

const RemainsSchema = schema.named(
  'AccountRemains',
  schema.object({
    events: schema.integer(`The number of events; ${most} stands for that many or more.`, 1_200),
    deliveries: schema.integer(
      `The number of deliveries; ${most} stands for that many or more.`,
      3_400,
    ),
  }),
);

/** A user as its own page shows it. */
type ShownUser = User & { credentials: Credential[]; remains?: AccountRemains | undefined };

/** One user. */
export const UserWithCredentialsView = viewOf<ShownUser>()('UserWithCredentials', {
  ...UserView.members,
  credentials: computed(schema.arrayOf(CredentialSummaryView.schema), ({ credentials }, href) =>
    credentials.map((each) => CredentialSummaryView.show(each, href)),
  ),
  remains: optional(
    schema.use(RemainsSchema, {
      description:
        'What is still to be removed of a user whose status is `closing`; otherwise absent.',
    }),
  ),
});

const credentialAddress = schema.href("The credential's URL.", 'users/83346/credentials/7');

/** One credential. */
export const CredentialView = viewOf<Credential>()('Credential', {
  href: computed(credentialAddress, credentialHref),
  ...CredentialSummaryView.members,
});

const password = optional(
  schema.text(
    'The password, if the service generated it. No other response contains it.',
    'Zr0vD8cP1mXyq4Lw',
  ),
);

/** The answer to a new user. */
export const CreatedUserSchema = schema.named(
  'CreatedUser',
  schema.object({
    href: schema.href("The user's URL.", 'users/83346'),
    id: schema.accountNumber('The id of the user and of its account.'),
    password,
  }),
);

/** The answer to a change of a user. */
export const ChangedUserSchema = schema.named(
  'ChangedUser',
  schema.object({
    href: schema.href("The user's URL.", 'users/83346'),
    id: schema.accountNumber('The id of the user and of its account.'),
  }),
);

/** The answer to a new credential. */
export const CreatedCredentialSchema = schema.named(
  'CreatedCredential',
  schema.object({
    href: credentialAddress,
    id: CredentialSummaryView.members.id,
    password,
    scope: CredentialSummaryView.members.scope,
    expiresAt: CredentialSummaryView.members.expiresAt,
  }),
);

export function credentialHref({ id, userId }: Credential, href: HrefBuilder): string {
  return href('users', userId, 'credentials', id);
}
