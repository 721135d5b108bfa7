import { Injectable } from '@nestjs/common';
import { AuditTrail, LRUCache, RateLimitedError, Transactions } from '#libs/kernel';
import { CUSTOMERS_AND_OPERATORS, requireRole } from './access.js';
import { LinkEndedError, SessionEndedError, UnauthorizedError } from './identity-errors.js';
import { LoginFailures, tokenCounter } from './login-failures.js';
import { CredentialUses, type LinkMatch, type Principal } from './logins.js';
import type { Match } from './password-check.js';
import { RateLimiter } from './rate-limiter.js';
import { hashOf, newToken, TOKEN_LENGTH } from './token.js';
import { VerifiedLogins } from './verified-logins.js';

/** How long a session lives, at most and without requests. */
export const SESSION_LIFE = { longest: '12 hours', idle: '30 minutes' } as const;

/**
 * The login of a browser, which a cookie refers to. It ends with its credential, or when its link ends, and with the
 * credential that made the link.
 */
export interface Session {
  principal: Principal;
  /** The credential or the link that it began with. */
  credentialId?: string;
  linkId?: string;
  /** SHA-256 of the token in the cookie, in Base64. */
  hash: string;
  createdAt: Date;
  /** When it ends without further requests; accurate to about a minute. */
  expiresAt: Date;
}

/** Stores sessions. */
export abstract class Sessions {
  /**
   * Also removes all but the credential's newest ones.
   * @returns false if the credential or its user is no longer valid; a concurrent change of either waits or is seen
   */
  abstract insert(hash: string, credentialId: string): Promise<boolean>;
  /**
   * Uses up a link.
   * @returns false if it was used or has ended, or if its user is not active
   */
  abstract insertWithLink(hash: string, linkId: string): Promise<boolean>;
  /** @returns undefined if it has ended, or if its credential, link or user is no longer valid */
  abstract find(hash: string): Promise<Session | undefined>;
  /** Notes a request, which extends the session. */
  abstract use(hash: string): Promise<void>;
  /** @returns false if there was none */
  abstract remove(hash: string): Promise<boolean>;
  /** Also removes the links that open the user, and those that its credentials made, with their sessions. */
  abstract removeOfUser(userId: string): Promise<void>;
}

const TOO_MANY_TOKENS = 'Too many requests with an unknown session have come from this address.';
/** Each new session is a write, even with a cached password. */
const LOGINS = { quota: 60, windowMs: 60_000 };
const USE_NOTED_EVERY_MS = 60_000;
const MAX_CACHED = 5_000;

/** The sessions of browsers. */
@Injectable()
export class SessionsService {
  private readonly verified: VerifiedLogins<Session>;
  /** When the last use of each session was stored, as `performance.now()`. */
  private readonly usedAt = new LRUCache<string, number>({ max: MAX_CACHED });

  constructor(
    private readonly sessions: Sessions,
    private readonly failures: LoginFailures,
    private readonly limiter: RateLimiter,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
    uses: CredentialUses,
  ) {
    this.verified = new VerifiedLogins(uses, ({ hash }) => sessions.find(hash));
  }

  /**
   * Begins a session with a verified credential or a link. The current actor must be its user.
   * @returns the token for the cookie, which is stored only as a hash
   * @throws ForbiddenError for a role without sessions; RateLimitedError; UnauthorizedError if the credential, the link
   * or its user has become invalid since
   */
  async begin(login: Match | LinkMatch): Promise<{ token: string; session: Session }> {
    const { principal } = login;
    requireRole(principal.role, CUSTOMERS_AND_OPERATORS);
    const { allowed, nextMs } = await this.limiter.consume(`${principal.userId}:login`, LOGINS);
    if (!allowed) throw new RateLimitedError('A user may log in 60 times in a minute.', nextMs);
    const token = newToken();
    const hash = hashOf(token);
    const session = await this.transactions.run(async () => {
      await this.insert(hash, login);
      await this.record('session.create', login);
      return this.show(token);
    });
    this.usedAt.set(hash, performance.now());
    return { token, session };
  }

  private async insert(hash: string, login: Match | LinkMatch): Promise<void> {
    if ('linkId' in login) {
      const isUsedNow = await this.sessions.insertWithLink(hash, login.linkId);
      if (!isUsedNow) throw new LinkEndedError();
    } else {
      const isValid = await this.sessions.insert(hash, login.credentialId);
      if (!isValid) throw new UnauthorizedError();
    }
  }

  /**
   * @param addressOf the client's address; called only for a token that is not cached
   * @throws UnauthorizedError, UnavailableError; RateLimitedError after too many failures
   */
  async authenticate(token: string, addressOf: () => string): Promise<Session> {
    if (token.length > TOKEN_LENGTH) throw new SessionEndedError();
    const hash = hashOf(token);
    const session = await this.verified.match(hash, addressOf, (address) =>
      // Limits the queries; tokens cannot be guessed.
      this.failures.counted(tokenCounter(address), TOO_MANY_TOKENS, 'undecided', () =>
        this.sessions.find(hash),
      ),
    );
    if (!session) throw new SessionEndedError();
    return session;
  }

  /** Whether a session is still valid. The service itself asks, so failures do not count. @throws UnavailableError */
  isValid(session: Session): Promise<boolean> {
    return this.verified.isValid(session.hash, session);
  }

  /** Extends a session, because of a request that its user has made. */
  async use(token: string): Promise<void> {
    const hash = hashOf(token);
    const now = performance.now();
    if (now - (this.usedAt.get(hash) ?? -Infinity) < USE_NOTED_EVERY_MS) return;
    this.usedAt.set(hash, now);
    await this.sessions.use(hash);
  }

  /** @throws UnauthorizedError if it has ended */
  async show(token: string): Promise<Session> {
    const session = await this.sessions.find(hashOf(token));
    if (!session) throw new SessionEndedError();
    return session;
  }

  /** Ends a session, if it has not ended. The current actor must be its user. */
  async end(token: string): Promise<void> {
    const hash = hashOf(token);
    await this.transactions.run(async () => {
      const session = await this.sessions.find(hash);
      const isRemoved = await this.sessions.remove(hash);
      if (session && isRemoved) await this.record('session.delete', session);
    });
    this.verified.forget(hash);
  }

  /** The entry names the credential or the link, because a session has no public id. */
  private record(
    action: 'session.create' | 'session.delete',
    { principal, ...of }: Pick<Session, 'principal' | 'credentialId' | 'linkId'>,
  ): Promise<void> {
    const resourceId = of.credentialId ?? of.linkId!;
    return this.audit.record({ action, resourceId, accountId: principal.userId });
  }
}
