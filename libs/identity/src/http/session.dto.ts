import { computed, schema, viewOf } from '#libs/http';
import { Field, string } from '#libs/kernel';
import { ROLES, SCOPES } from '../domain/access.js';
import type { Session } from '../domain/sessions.service.js';

/** The body of `POST /v1/session`: a username and a password, or the token of a link. */
export class LoginDto {
  @Field(string(), { requiredUnless: 'link', about: 'The username.', example: 'demo' })
  username?: string;

  @Field(string(), { requiredUnless: 'link', about: 'The password.', example: 'demo-secret' })
  password?: string;

  @Field(string(), {
    about: 'Instead of these: what follows `#link=` in the address of a link to the console.',
    example: 'mQ8Yc0v3Jx1rZt5KpLw7Bn2Hd9Gs4Ef6Ua8Iy0Oq1Rs',
  })
  link?: string;
}

const { optional } = schema;

/** A session or, with Basic credentials, only their user. */
type ShownSession = Pick<Session, 'principal'> &
  Partial<Pick<Session, 'linkId' | 'createdAt' | 'expiresAt'>>;

/** Who is logged in. */
export const SessionView = viewOf<ShownSession>()('Session', {
  href: computed(schema.href("The session's URL.", 'session'), (_, href) => href('session')),
  userId: computed(
    schema.accountNumber('The id of the user and of its account.'),
    ({ principal }) => Number(principal.userId),
  ),
  username: computed(schema.text('The username.', 'demo'), ({ principal }) => principal.username),
  role: computed(schema.choice("The user's role.", ROLES), ({ principal }) => principal.role),
  scope: computed(
    schema.choice('What the credentials are for: `read` allows no change and no secret.', SCOPES),
    ({ principal }) => principal.scope,
  ),
  byLink: computed(
    optional(
      schema.flag(
        '`true` if it started with a link to the console, and therefore cannot create links; otherwise absent.',
        true,
      ),
    ),
    ({ linkId }) => linkId !== undefined || undefined,
  ),
  createdAt: optional(schema.time('When the session started; absent with Basic credentials.')),
  expiresAt: optional(
    schema.time(
      'When the session expires if there are no further requests, to about a minute; absent with Basic credentials.',
    ),
  ),
});
