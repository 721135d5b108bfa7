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

/** How old a look at a credential's row may be: this long a revoked one may still work. */
const LOOK_VALID_MS = 1_000;
/** Pairs that are remembered: a few MB. */
const REMEMBERED = 5_000;

/** A pair that was verified. Times are `performance.now()`. */
interface Verified {
  credentialId: string;
  principal: Principal;
  lookedAt: number;
  look?: Promise<Verified | undefined>;
}

/**
 * Tells whose credentials an `Authorization` header carries. Verifying a password costs
 * milliseconds of a core, so a verified header is remembered under a keyed hash, and its
 * credential's row is looked at again when the last look is more than a second old.
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
   * @param addressOf where the request comes from; asked only for a pair that is not remembered
   * @throws UnauthorizedError, UnavailableError, BusyError; RateLimitedError after too many failures
   */
  async authenticate(header: string | undefined, addressOf: () => string): Promise<Principal> {
    if (header === undefined) throw new UnauthorizedError();
    // A Hmac costs five times as much, and the digest, which is shown to nobody, needs none.
    const key = hash('sha256', this.key + header, 'base64');
    const entry = this.remembered.get(key);
    if (!entry) {
      const pair = basicCredentialsOf(header);
      if (!pair) throw new UnauthorizedError();
      // Written in another way, a verified pair would be verified once more, as often as anybody likes.
      const canonical = canonicalHeader(pair);
      if (header !== canonical) return this.authenticate(canonical, addressOf);
    }
    const current = entry && (isFresh(entry) ? entry : await this.look(key, entry));
    // A pair that stopped working may work again: unlocked, or stored as another credential.
    const verified = current ?? (await this.verifyOnce(key, header, addressOf()));
    if (!verified) throw new UnauthorizedError();
    return verified.principal;
  }

  /** Looks at the row again; requests that come meanwhile wait for the same look. */
  private look(key: string, entry: Verified): Promise<Verified | undefined> {
    entry.look ??= this.lookNow(key, entry).finally(() => {
      delete entry.look;
    });
    return entry.look;
  }

  private async lookNow(key: string, entry: Verified): Promise<Verified | undefined> {
    const lookedAt = performance.now();
    const principal = await this.logins.principalOf(entry.credentialId);
    // Another request may have put a newer entry in its place meanwhile.
    const isCurrent = this.remembered.get(key) === entry;
    if (isCurrent && !principal) this.remembered.delete(key);
    if (!principal) return undefined;
    entry.principal = principal;
    entry.lookedAt = lookedAt;
    this.uses.note(entry.credentialId);
    return entry;
  }

  /** Verifies a header; requests of one address that carry the same one wait for one computation. */
  private verifyOnce(key: string, header: string, address: string): Promise<Verified | undefined> {
    const here = `${key} ${address}`;
    const underWay = this.verifying.get(here);
    if (underWay) return underWay;
    const verification = this.verify(key, header, address).finally(() =>
      this.verifying.delete(here),
    );
    this.verifying.set(here, verification);
    return verification;
  }

  private async verify(
    key: string,
    header: string,
    address: string,
  ): Promise<Verified | undefined> {
    const pair = basicCredentialsOf(header);
    if (!pair) return undefined;
    const lookedAt = performance.now();
    const match = await this.attempt(pair, address);
    if (!match) return undefined;
    const entry: Verified = { ...match, lookedAt };
    this.remembered.set(key, entry);
    this.uses.note(entry.credentialId);
    // Under load the computation waits its turn, and the row may have changed since.
    return isFresh(entry) ? entry : this.look(key, entry);
  }

  /** Checks the password, unless too many were wrong before. */
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
   * @param refusal what is answered when too many have failed
   * @param success what a success is to this counter: who has one account may not make it forget what
   * was tried with others
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
  return performance.now() - entry.lookedAt <= LOOK_VALID_MS;
}
