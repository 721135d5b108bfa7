import { Injectable } from '@nestjs/common';
import { AuditTrail, ForbiddenError, Transactions } from '#libs/kernel';
import { type CredentialScope, CUSTOMERS_AND_OPERATORS, requireRole } from './access.js';
import { LinkEndedError, UnauthorizedError, UserNotActiveError } from './identity-errors.js';
import { LoginFailures, tokenCounter } from './login-failures.js';
import type { ActingUser, LinkMatch } from './logins.js';
import { hashOf, newToken, TOKEN_LENGTH } from './token.js';
import { UsersService } from './users.service.js';

/** How long a link and its session live at most, in seconds. */
export const LINK_SECONDS = { min: 1, max: 3_600 } as const;

/** A link to store. */
export interface NewLink {
  /** SHA-256 of the token, in Base64. */
  hash: string;
  userId: string;
  /** The credential that makes it. */
  credentialId: string;
  scope: CredentialScope;
  seconds: number;
}

/** Stores links to the console, each of which begins one session. A link ends with the credential that made it. */
export abstract class Links {
  /**
   * @returns undefined if the user or the credential is not valid; a concurrent change of either, or of the credential's
   * user, waits or is seen
   */
  abstract insert(link: NewLink): Promise<{ id: string; endsAt: Date } | undefined>;
  /** @returns undefined if it is unknown, has ended or was used, or if its user is not active */
  abstract find(hash: string): Promise<LinkMatch | undefined>;
}

const OF_A_LINK = 'A session that began with a link cannot create links.';
const FOR_PLATFORM = 'create links for one';
const TOO_MANY_TOKENS = 'Too many requests with an unknown link have come from this address.';

/** Links that open the console as a user, once. */
@Injectable()
export class LinksService {
  constructor(
    private readonly users: UsersService,
    private readonly links: Links,
    private readonly failures: LoginFailures,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
  ) {}

  /**
   * @param user an id or a username
   * @param seconds until the link and its session end
   * @param by with its credential; a session that began with a link has none, and creates no links
   * @returns the token of the link, which is stored only as a hash
   * @throws NotFoundError, ForbiddenError, UserNotActiveError; UnauthorizedError if the credential has become invalid
   */
  async create(
    user: string,
    { scope, seconds }: Pick<NewLink, 'scope' | 'seconds'>,
    by: ActingUser & { credentialId: string | undefined },
  ): Promise<{ token: string; endsAt: Date }> {
    const { credentialId } = by;
    // Otherwise a link would last as long as its sessions made others.
    if (credentialId === undefined) throw new ForbiddenError(OF_A_LINK);
    const { id: userId, role, status } = await this.users.changeable(user, by, FOR_PLATFORM);
    requireRole(role, CUSTOMERS_AND_OPERATORS);
    if (status !== 'active') throw new UserNotActiveError();
    const token = newToken();
    const link = { hash: hashOf(token), userId, credentialId, scope, seconds };
    const endsAt = await this.transactions.run(async () => {
      const stored = await this.links.insert(link);
      if (!stored) throw new UnauthorizedError();
      await this.audit.record({
        action: 'link.create',
        resourceId: stored.id,
        accountId: userId,
      });
      return stored.endsAt;
    });
    return { token, endsAt };
  }

  /**
   * The login of a link, which the session that begins with it uses up.
   * @throws LinkEndedError, UnavailableError; RateLimitedError after too many failures
   */
  async authenticate(token: string, address: string): Promise<LinkMatch> {
    if (token.length > TOKEN_LENGTH) throw new LinkEndedError();
    // Limits the queries; tokens cannot be guessed.
    const match = await this.failures.counted(
      tokenCounter(address),
      TOO_MANY_TOKENS,
      'undecided',
      () => this.links.find(hashOf(token)),
    );
    if (!match) throw new LinkEndedError();
    return match;
  }
}
