import { Injectable } from '@nestjs/common';
import { hashRaw } from '@node-rs/argon2';
import { DomainError, Turns } from '#libs/kernel';
import { PasswordHasher } from '../domain/password-hasher.js';

/** OWASP's first choice of 2023 for Argon2id: 19 MiB, two passes, one lane. */
const PARAMETERS = {
  // The algorithm is left out: Argon2id is what the package computes unless it is told otherwise.
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
  outputLen: 32,
};

const LIMITS = {
  /** They run on libuv's four threads, which look-ups of names need as well. */
  atOnce: 2,
  /** About four seconds' worth on two idle cores: who comes later would have given up before its turn. */
  waiting: 1_000,
};

/** Argon2id, a few computations at a time. */
@Injectable()
export class Argon2PasswordHasher extends PasswordHasher {
  private readonly turns = new Turns(LIMITS);

  override hash(password: string, salt: Buffer): Promise<Buffer> {
    // One password, however its accents were typed (RFC 7617, section 2.1).
    const text = password.normalize('NFC');
    return this.turns.run(() => hashRaw(text, { ...PARAMETERS, salt }), tooManyWait);
  }
}

function tooManyWait(): DomainError {
  return new DomainError(
    'unavailable',
    'unavailable',
    'Too many passwords wait to be checked now.',
  );
}
