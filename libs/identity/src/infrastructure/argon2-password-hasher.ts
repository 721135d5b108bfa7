import { Injectable } from '@nestjs/common';
import { hashRaw } from '@node-rs/argon2';
import { BusyError, Turns } from '#libs/kernel';
import { PasswordHasher } from '../domain/password-hasher.js';

/** OWASP's first choice of 2023 for Argon2id: 19 MiB, two passes, one lane. */
const PARAMETERS = {
  // The algorithm is left out: Argon2id is what the package computes unless it is told otherwise.
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
  outputLen: 32,
};

/** Callers bound themselves how many checks wait; new passwords are few, and wait behind one check. */
const LIMITS = { atOnce: 1, waitingOfOne: 100 };

/** Argon2id, one computation at a time: it takes a core. */
@Injectable()
export class Argon2PasswordHasher extends PasswordHasher {
  private readonly turns = new Turns(
    LIMITS,
    () => new BusyError('Too many passwords wait to be stored now.'),
  );

  override hash(password: string, salt: Buffer): Promise<Buffer> {
    // One password, however its accents were typed (RFC 7617, section 2.1).
    const text = password.normalize('NFC');
    return this.turns.run(() => hashRaw(text, { ...PARAMETERS, salt }));
  }
}
