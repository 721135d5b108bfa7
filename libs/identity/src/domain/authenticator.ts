import { createHmac, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { basicCredentialsOf } from './basic-credentials.js';
import { UnauthorizedError } from './identity-errors.js';
import { Logins } from './logins.js';
import { PasswordCheck } from './password-check.js';
import type { Principal } from './principal.js';

/** How old a look at a credential's row may be: this long a revoked one may still work. */
const LOOK_VALID_MS = 1_000;
/** Pairs remembered at the most: a few MB. */
const MAX_REMEMBERED = 10_000;

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
  private readonly key = randomBytes(32);
  private readonly remembered = new Map<string, Verified>();
  private readonly verifying = new Map<string, Promise<Verified | undefined>>();

  constructor(
    private readonly check: PasswordCheck,
    private readonly logins: Logins,
  ) {}

  /** @throws UnauthorizedError, UnavailableError */
  async authenticate(header: string | undefined): Promise<Principal> {
    if (header === undefined) throw new UnauthorizedError();
    const key = createHmac('sha256', this.key).update(header).digest('base64');
    const entry = this.remembered.get(key);
    const current = entry && (isFresh(entry) ? entry : await this.look(key, entry));
    // A pair that stopped working may work again: unlocked, or stored as another credential.
    const verified = current ?? (await this.verifyOnce(key, header));
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
    if (isCurrent) this.remembered.delete(key);
    if (!principal) return undefined;
    entry.principal = principal;
    entry.lookedAt = lookedAt;
    // At the end of the map: what is in use is dropped last.
    if (isCurrent) this.remembered.set(key, entry);
    return entry;
  }

  /** Verifies a header; requests that carry the same one wait for the same computation. */
  private verifyOnce(key: string, header: string): Promise<Verified | undefined> {
    const underWay = this.verifying.get(key);
    if (underWay) return underWay;
    const verification = this.verify(key, header).finally(() => this.verifying.delete(key));
    this.verifying.set(key, verification);
    return verification;
  }

  private async verify(key: string, header: string): Promise<Verified | undefined> {
    const pair = basicCredentialsOf(header);
    if (!pair) return undefined;
    const lookedAt = performance.now();
    const match = await this.check.match(pair);
    if (!match) return undefined;
    const entry: Verified = { ...match, lookedAt };
    this.remember(key, entry);
    // Under load the computation waits its turn, and the row may have changed since.
    return isFresh(entry) ? entry : this.look(key, entry);
  }

  private remember(key: string, entry: Verified): void {
    this.remembered.set(key, entry);
    if (this.remembered.size <= MAX_REMEMBERED) return;
    for (const oldest of this.remembered.keys()) {
      this.remembered.delete(oldest);
      break;
    }
  }
}

function isFresh(entry: Verified): boolean {
  return performance.now() - entry.lookedAt <= LOOK_VALID_MS;
}
