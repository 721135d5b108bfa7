/** Turns a password into what is stored of it; deliberately slow (milliseconds of one core). */
export abstract class PasswordHasher {
  /** @throws BusyError when too many computations wait already */
  abstract hash(password: string, salt: Buffer): Promise<Buffer>;
}
