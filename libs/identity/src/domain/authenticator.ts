import { hash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  type BasicCredentials,
  basicCredentialsOf,
  canBeCredentials,
  canonicalHeader,
  isBounded,
} from './basic-credentials.js';
import { CredentialUses, Logins } from './logins.js';
import { UnauthorizedError } from './identity-errors.js';
import { addressCounter, LoginFailures, pairCounter } from './login-failures.js';
import { type Match, PasswordCheck } from './password-check.js';
import { VerifiedLogins } from './verified-logins.js';

const NOT_BASIC =
  'The header Authorization must be Basic, a space and the Base64 of username:password.';
const OF_ADDRESS = 'Too many logins have failed from this address.';

/**
 * Finds the user of an `Authorization` header. Verifying a password takes milliseconds of a core, so verified
 * headers are cached under a keyed hash.
 */
@Injectable()
export class Authenticator {
  private readonly key = randomBytes(32).toString('base64');
  private readonly verified: VerifiedLogins<Match>;

  constructor(
    private readonly check: PasswordCheck,
    logins: Logins,
    private readonly failures: LoginFailures,
    uses: CredentialUses,
  ) {
    this.verified = new VerifiedLogins(uses, async ({ credentialId }) => {
      const principal = await logins.principalOf(credentialId);
      return principal && { credentialId, principal };
    });
  }

  /**
   * @param addressOf the client's address; called only for a pair that is not cached
   * @throws UnauthorizedError, UnavailableError, BusyError; RateLimitedError after too many failures
   */
  async authenticate(header: string | undefined, addressOf: () => string): Promise<Match> {
    if (header === undefined) throw new UnauthorizedError('Credentials are required (HTTP Basic).');
    if (!canBeCredentials(header)) throw new UnauthorizedError();
    const key = this.keyOf(header);
    if (!this.verified.has(key)) {
      const pair = basicCredentialsOf(header);
      if (!pair) throw new UnauthorizedError(NOT_BASIC);
      if (!isBounded(pair)) throw new UnauthorizedError();
      // Otherwise, each different spelling of a verified pair would force another verification.
      const canonical = canonicalHeader(pair);
      if (header !== canonical) return this.authenticate(canonical, addressOf);
    }
    const match = await this.verified.match(key, addressOf, (address) => {
      const pair = basicCredentialsOf(header);
      return pair ? this.attempt(pair, address) : Promise.resolve(undefined);
    });
    if (!match) throw new UnauthorizedError();
    return match;
  }

  /**
   * Whether verified credentials are still valid. The service itself asks, so failures do not count.
   * @throws UnavailableError
   */
  async isValid(header: string, match: Match): Promise<boolean> {
    const pair = basicCredentialsOf(header);
    return pair !== undefined && this.verified.isValid(this.keyOf(canonicalHeader(pair)), match);
  }

  /** Like {@link authenticate}, for a pair from elsewhere than the header. */
  async authenticatePair(pair: BasicCredentials, addressOf: () => string): Promise<Match> {
    if (!isBounded(pair)) throw new UnauthorizedError();
    return this.authenticate(canonicalHeader(pair), addressOf);
  }

  private keyOf(header: string): string {
    // An HMAC would cost five times as much, and is not needed because the digest stays internal.
    return hash('sha256', this.key + header, 'base64');
  }

  /** Checks the password, unless there were too many failures before. */
  private attempt(pair: BasicCredentials, address: string): Promise<Match | undefined> {
    const ofPair = 'Too many logins with this username have failed from this address.';
    // Otherwise the owner of one account could reset the failures with other usernames.
    return this.failures.counted(addressCounter(address), OF_ADDRESS, 'undecided', () =>
      this.failures.counted(pairCounter(pair.username, address), ofPair, 'succeeded', () =>
        this.check.match(pair, address),
      ),
    );
  }
}
