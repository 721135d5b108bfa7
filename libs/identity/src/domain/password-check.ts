import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { BusyError, FairSemaphore, siteOf } from '#libs/kernel';
import type { BasicCredentials } from './basic-credentials.js';
import { Logins, type Principal } from './logins.js';
import { isUsername, SALT_BYTES } from './user.js';

/** Hashes a password for storage; deliberately slow (milliseconds of one core). */
export abstract class PasswordHasher {
  /** @throws BusyError when too many computations are waiting */
  abstract hash(password: string, salt: Buffer): Promise<Buffer>;
}

/**
 * One check at a time, round-robin over sites, so that a flood of wrong passwords occupies only one core
 * (docs/decisions/2026-11-21-limits.md). A hundred checks, the limit of one address, take 1 s, or 5 s under load.
 */
const LIMITS = { atOnce: 1, waitMs: 5_000 };

/** The credential that a password belongs to, and its user. */
export interface Match {
  credentialId: string;
  principal: Principal;
}

/**
 * Finds the credential of a pair. It always computes one hash, so that the time of an answer does not reveal
 * whether the user exists.
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
   * @param address determines the site that the check is queued for
   * @returns undefined for an unknown user, a wrong or expired password and a locked user
   * @throws BusyError after waiting for too long
   */
  match(pair: BasicCredentials, address: string): Promise<Match | undefined> {
    return this.semaphore.run(() => this.check(pair), siteOf(address));
  }

  private async check({ username, password }: BasicCredentials): Promise<Match | undefined> {
    const login = isUsername(username) ? await this.logins.find(username) : undefined;
    const hash = await this.hasher.hash(password, login?.salt ?? this.fakeSaltOf(username));
    if (!login) return undefined;
    // Compares every hash, so that the time does not reveal which one matched.
    const matches = login.credentials.filter((stored) => timingSafeEqual(stored.hash, hash));
    const credential = matches[0];
    if (!credential || login.status !== 'active') return undefined;
    const { id, scope } = credential;
    return { credentialId: id, principal: { ...login.user, scope } };
  }

  /** Always the same for a username, like a stored salt. */
  private fakeSaltOf(username: string): Buffer {
    return createHmac('sha256', this.saltKey).update(username).digest().subarray(0, SALT_BYTES);
  }
}
