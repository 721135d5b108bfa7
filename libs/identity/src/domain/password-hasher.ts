/** Hashes a password for storage; deliberately slow (milliseconds of one core). */
export abstract class PasswordHasher {
  /** @throws BusyError when too many computations are waiting */
  abstract hash(password: string, salt: Buffer): Promise<Buffer>;
}
