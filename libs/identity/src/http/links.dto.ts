import { schema } from '#libs/http';
import { Field, integer, oneOf, storableText } from '#libs/kernel';
import { type CredentialScope, SCOPES } from '../domain/access.js';
import { LINK_SECONDS } from '../domain/links.service.js';

/** Whether the text is the path of a page, with or without a query: nothing in it leads out of the console. */
function isConsolePath(path: string): boolean {
  if (!/^\/[^\s\\#]*$/.test(path)) return false;
  return new URL(`http://console/console${path}`).pathname.startsWith('/console/');
}

/** The body of `POST /v1/users/:id/links`. */
export class CreateLinkDto {
  static readonly refusesUnknown = true;

  @Field(oneOf(SCOPES), {
    about: 'What the session may do: only read, or all that its user may.',
    example: 'read',
    default: 'read',
  })
  scope!: CredentialScope;

  @Field(integer(LINK_SECONDS), {
    about: 'In how many seconds the link expires, and its session ends.',
    example: 600,
    default: LINK_SECONDS.max,
  })
  expiresIn!: number;

  @Field(
    storableText(2_048).and(
      'format',
      'must be the path of a page below /console, from its first slash, without host and fragment',
      isConsolePath,
    ),
    { about: 'The page that the link opens.', example: '/deliveries', default: '/' },
  )
  path!: string;
}

/** The answer to a new link. */
export const CreatedLinkSchema = schema.named(
  'CreatedLink',
  schema.object({
    url: schema.text(
      'The address that opens the console, once. No other response contains it.',
      'https://api.example.com/console/deliveries#link=mQ8Yc0v3Jx1rZt5KpLw7Bn2Hd9Gs4Ef6Ua8Iy0Oq1Rs',
    ),
    expiresAt: schema.time('When the link expires, and its session ends.'),
  }),
);
