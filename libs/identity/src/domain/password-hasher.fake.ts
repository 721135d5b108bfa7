import { createHash } from 'node:crypto';
import { PasswordHasher } from './password-hasher.js';

/** A fast hash that counts its computations. */
export class FakePasswordHasher extends PasswordHasher {
  readonly salts: string[] = [];

  get computations(): number {
    return this.salts.length;
  }

  override hash(password: string, salt: Buffer): Promise<Buffer> {
    this.salts.push(salt.toString('hex'));
    return Promise.resolve(fakeHash(password, salt));
  }
}

export function fakeHash(password: string, salt: Buffer): Buffer {
  return createHash('sha256').update(salt).update(password).digest();
}
