import { hash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { RateLimitedError, LRUCache } from '#libs/kernel';
import { type BasicCredentials, basicCredentialsOf, canonicalHeader } from './basic-credentials.js';
import { CredentialUses } from './credential-uses.js';
import { UnauthorizedError } from './identity-errors.js';
import {
  addressCounter,
  type LoginCounter,
  LoginFailures,
  type LoginOutcome,
  pairCounter,
} from './login-failures.js';
import { Logins } from './logins.js';
import { type Match, PasswordCheck } from './password-check.js';
import type { Principal } from './principal.js';

/** How long a credential's row is cached. A revoked credential may work for this long. */
const CACHED_MS = 1_000;
/** Verified pairs to cache: a few MB. */
const REMEMBERED = 5_000;

/** A verified pair. Times are `performance.now()`. */
interface Verified {
  credentialId: string;
  principal: Principal;
  checkedAt: number;
  recheck?: Promise<Verified | undefined>;
}

/**
 * Finds the user of an `Authorization` header. Verifying a password takes milliseconds of a core, so verified
 * headers are cached under a keyed hash, and only the credential's row is read again when the last read is
 * more than a second old.
 */
@Injectable()
export class Authenticator {
  private readonly key = randomBytes(32).toString('base64');
  private readonly remembered = new LRUCache<string, Verified>({ max: REMEMBERED });
  private readonly verifying = new Map<string, Promise<Verified | undefined>>();

  constructor(
    private readonly check: PasswordCheck,
    private readonly logins: Logins,
    private readonly failures: LoginFailures,
    private readonly uses: CredentialUses,
  ) {}

  /**
   * @param addressOf the client's address; called only for a pair that is not cached
   * @throws UnauthorizedError, UnavailableError, BusyError; RateLimitedError after too many failures
   */
  async authenticate(header: string | undefined, addressOf: () => string): Promise<Principal> {
    if (header === undefined) throw new UnauthorizedError('Credentials are required (HTTP Basic).');
    // An HMAC would cost five times as much, and is not needed because the digest stays internal.
    const key = hash('sha256', this.key + header, 'base64');
    const entry = this.remembered.get(key);
    if (!entry) {
      const pair = basicCredentialsOf(header);
      if (!pair) throw new UnauthorizedError();
      // Otherwise, each different spelling of a verified pair would force another verification.
      const canonical = canonicalHeader(pair);
      if (header !== canonical) return this.authenticate(canonical, addressOf);
    }
    const current = entry && (isFresh(entry) ? entry : await this.recheck(key, entry));
    // A pair that stopped working may work again, after an unlock or as another credential.
    const verified = current ?? (await this.verifyOnce(key, header, addressOf()));
    if (!verified) throw new UnauthorizedError();
    return verified.principal;
  }

  /** Reads the row again. Concurrent requests share one read. */
  private recheck(key: string, entry: Verified): Promise<Verified | undefined> {
    entry.recheck ??= this.recheckNow(key, entry).finally(() => {
      delete entry.recheck;
    });
    return entry.recheck;
  }

  private async recheckNow(key: string, entry: Verified): Promise<Verified | undefined> {
    const checkedAt = performance.now();
    const principal = await this.logins.principalOf(entry.credentialId);
    // Another request may have replaced the entry meanwhile.
    const isCurrent = this.remembered.get(key) === entry;
    if (isCurrent && !principal) this.remembered.delete(key);
    if (!principal) return undefined;
    entry.principal = principal;
    entry.checkedAt = checkedAt;
    this.uses.note(entry.credentialId);
    return entry;
  }

  /** Verifies a header. Concurrent requests from one address with the same header share one computation. */
  private verifyOnce(key: string, header: string, address: string): Promise<Verified | undefined> {
    const headerAndAddress = `${key} ${address}`;
    const pending = this.verifying.get(headerAndAddress);
    if (pending) return pending;
    const verification = this.verify(key, header, address).finally(() =>
      this.verifying.delete(headerAndAddress),
    );
    this.verifying.set(headerAndAddress, verification);
    return verification;
  }

  private async verify(
    key: string,
    header: string,
    address: string,
  ): Promise<Verified | undefined> {
    const pair = basicCredentialsOf(header);
    if (!pair) return undefined;
    const checkedAt = performance.now();
    const match = await this.attempt(pair, address);
    if (!match) return undefined;
    const entry: Verified = { ...match, checkedAt };
    this.remembered.set(key, entry);
    this.uses.note(entry.credentialId);
    // Under load, the computation waits in a queue, and the row may have changed since.
    return isFresh(entry) ? entry : this.recheck(key, entry);
  }

  /** Checks the password, unless there were too many failures before. */
  private attempt(pair: BasicCredentials, address: string): Promise<Match | undefined> {
    const ofPair = 'Too many logins with this username have failed from this address.';
    const ofAddress = 'Too many logins have failed from this address.';
    return this.counted(addressCounter(address), ofAddress, 'undecided', () =>
      this.counted(pairCounter(pair.username, address), ofPair, 'succeeded', () =>
        this.check.match(pair, address),
      ),
    );
  }

  /**
   * @param refusal the error message after too many failures
   * @param success what a success means to this counter: the owner of one account must not be able to reset
   * the failures with other usernames
   */
  private async counted(
    counter: LoginCounter,
    refusal: string,
    success: 'succeeded' | 'undecided',
    attempt: () => Promise<Match | undefined>,
  ): Promise<Match | undefined> {
    const waitMs = await this.failures.begin(counter);
    if (waitMs > 0) throw new RateLimitedError(refusal, waitMs);
    let outcome: LoginOutcome = 'undecided';
    try {
      const match = await attempt();
      outcome = match ? success : 'failed';
      return match;
    } finally {
      this.failures.end(counter, outcome);
    }
  }
}

function isFresh(entry: Verified): boolean {
  return performance.now() - entry.checkedAt <= CACHED_MS;
}
