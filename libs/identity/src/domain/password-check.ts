import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { BusyError, siteOf, FairSemaphore } from '#libs/kernel';
import type { BasicCredentials } from './basic-credentials.js';
import { Logins } from './logins.js';
import { PasswordHasher } from './password-hasher.js';
import type { Principal } from './principal.js';
import { SALT_BYTES } from './user.js';
import { isUsername } from './username.js';

/**
 * One check at a time, so that a flood of wrong passwords takes one core and leaves the others to
 * everybody else (docs/decisions/2026-11-21-limits.md), and one of each site in turn. A hundred, as many
 * as an address may have under way, wait about a second; five, where a machine is short of everything.
 */
const LIMITS = { atOnce: 1, waitMs: 5_000 };

/** Which credential a password turned out to be, and whose. */
export interface Match {
  credentialId: string;
  principal: Principal;
}

/**
 * Finds the credential that a pair is. Costs one computation of the hash and the same time
 * whatever comes out, so that an answer does not tell whether there is such a user.
 */
@Injectable()
export class PasswordCheck {
  private readonly saltKey = randomBytes(32);
  private readonly semaphore = new FairSemaphore(
    LIMITS,
    () => new BusyError('Too many passwords wait to be checked now.'),
  );

  constructor(
    private readonly logins: Logins,
    private readonly hasher: PasswordHasher,
  ) {}

  /**
   * @param address whose turn it takes, with all of its site
   * @returns undefined for an unknown user, a wrong or expired password and a locked user
   * @throws BusyError when too many wait, or after too long a wait
   */
  match(pair: BasicCredentials, address: string): Promise<Match | undefined> {
    return this.semaphore.run(() => this.check(pair), siteOf(address));
  }

  private async check({ username, password }: BasicCredentials): Promise<Match | undefined> {
    const login = isUsername(username) ? await this.logins.find(username) : undefined;
    const hash = await this.hasher.hash(password, login?.salt ?? this.saltOfNobody(username));
    if (!login) return undefined;
    // Every hash is compared, so that the time does not tell which one it was.
    const matches = login.credentials.filter((stored) => timingSafeEqual(stored.hash, hash));
    const credential = matches[0];
    if (!credential || login.status !== 'active') return undefined;
    return { credentialId: credential.id, principal: login.principal };
  }

  /** Always the same for a name, as a stored salt would be. */
  private saltOfNobody(username: string): Buffer {
    return createHmac('sha256', this.saltKey).update(username).digest().subarray(0, SALT_BYTES);
  }
}
