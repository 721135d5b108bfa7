import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { BasicCredentials } from './basic-credentials.js';
import { Logins } from './logins.js';
import { PasswordHasher } from './password-hasher.js';
import type { Principal } from './principal.js';
import { SALT_BYTES } from './user.js';
import { isUsername } from './username.js';

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

  constructor(
    private readonly logins: Logins,
    private readonly hasher: PasswordHasher,
  ) {}

  /** @returns undefined for an unknown user, a wrong password and a locked user */
  async match({ username, password }: BasicCredentials): Promise<Match | undefined> {
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
