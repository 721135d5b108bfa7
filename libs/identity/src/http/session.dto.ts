import { computed, schema, viewOf } from '#libs/http';
import { Field, string } from '#libs/kernel';
import type { Session } from '../domain/sessions.service.js';
import { ROLES } from '../domain/user.js';

/** The body of `POST /v1/session`. */
export class LoginDto {
  @Field(string(), { required: true, about: 'The username.', example: 'demo' })
  username!: string;

  @Field(string(), { required: true, about: 'The password.', example: 'demo-secret' })
  password!: string;
}

const { optional } = schema;

/** A session or, with Basic credentials, only their user. */
type ShownSession = Pick<Session, 'principal'> & Partial<Pick<Session, 'createdAt' | 'expiresAt'>>;

/** Who is logged in. */
export const SessionView = viewOf<ShownSession>()('Session', {
  href: computed(schema.href("The session's URL.", 'session'), (_, href) => href('session')),
  userId: computed(
    schema.accountNumber('The id of the user and of its account.'),
    ({ principal }) => Number(principal.userId),
  ),
  username: computed(schema.text('The username.', 'demo'), ({ principal }) => principal.username),
  role: computed(schema.choice("The user's role.", ROLES), ({ principal }) => principal.role),
  createdAt: optional(schema.time('When the session started; absent with Basic credentials.')),
  expiresAt: optional(
    schema.time(
      'When the session expires if there are no further requests, to about a minute; absent with Basic credentials.',
    ),
  ),
});
