import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache, RateLimitedError } from '#libs/kernel';
import { CredentialUses } from './credential-uses.js';
import { SessionEndedError } from './identity-errors.js';
import { LoginFailures, tokenCounter } from './login-failures.js';
import type { Match } from './password-check.js';
import { RateLimiter } from './rate-limiter.js';
import { type Session, Sessions } from './session.js';
import { VerifiedLogins } from './verified-logins.js';

const TOKEN_BYTES = 32;
const TOO_MANY_TOKENS = 'Too many requests with an unknown session have come from this address.';
/** Each new session is a write, even with a cached password. */
const LOGINS = { quota: 60, windowMs: 60_000 };
const USE_NOTED_EVERY_MS = 60_000;
const MAX_KNOWN = 5_000;

/** The sessions of browsers. */
@Injectable()
export class SessionsService {
  private readonly verified: VerifiedLogins<Session>;
  /** When the last use of each session was stored, as `performance.now()`. */
  private readonly usedAt = new LRUCache<string, number>({ max: MAX_KNOWN });

  constructor(
    private readonly sessions: Sessions,
    private readonly failures: LoginFailures,
    private readonly limiter: RateLimiter,
    uses: CredentialUses,
  ) {
    this.verified = new VerifiedLogins(uses, ({ hash }) => sessions.find(hash));
  }

  /**
   * Begins a session with a verified credential.
   * @returns the token for the cookie, which is stored only as a hash
   * @throws RateLimitedError
   */
  async begin({ credentialId, principal }: Match): Promise<{ token: string; session: Session }> {
    const { allowed, nextMs } = await this.limiter.take(`${principal.userId}:login`, LOGINS);
    if (!allowed) throw new RateLimitedError('A user may log in 60 times in a minute.', nextMs);
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const hash = hashOf(token);
    await this.sessions.insert(hash, credentialId);
    this.usedAt.set(hash, performance.now());
    return { token, session: await this.show(token) };
  }

  /**
   * @param addressOf the client's address; called only for a token that is not cached
   * @throws UnauthorizedError, UnavailableError; RateLimitedError after too many failures
   */
  async authenticate(token: string, addressOf: () => string): Promise<Session> {
    const hash = hashOf(token);
    const session = await this.verified.match(hash, addressOf, (address) =>
      // Not because anybody could guess a token, but because each try is a query.
      this.failures.counted(tokenCounter(address), TOO_MANY_TOKENS, 'undecided', () =>
        this.sessions.find(hash),
      ),
    );
    if (!session) throw new SessionEndedError();
    return session;
  }

  /** Whether a session has not ended. The service asks this, so it does not count. @throws UnavailableError */
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

  async end(token: string): Promise<void> {
    const hash = hashOf(token);
    await this.sessions.remove(hash);
    this.verified.forget(hash);
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
