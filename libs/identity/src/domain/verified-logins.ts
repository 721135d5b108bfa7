import { LRUCache } from '#libs/kernel';
import type { CredentialUses } from './logins.js';

/** How long a row is cached, and a revoked credential may still work. */
const CACHED_MS = 1_000;
/** Logins to cache: a few MB. */
const MAX_CACHED = 5_000;

/** A login, and its credential if it has one. */
interface Verified {
  credentialId?: string;
}

/** Times are `performance.now()`. */
interface Entry<Login> {
  login: Login;
  checkedAt: number;
  recheck?: Promise<Login | undefined>;
}

/**
 * Caches verified logins by a key. Reads a login's row again after a second.
 */
export class VerifiedLogins<Login extends Verified> {
  private readonly entries = new LRUCache<string, Entry<Login>>({ max: MAX_CACHED });
  private readonly verifying = new Map<string, Promise<Login | undefined>>();

  /** @param read reads a login's row; undefined if it is not valid any more */
  constructor(
    private readonly uses: CredentialUses,
    private readonly read: (login: Login) => Promise<Login | undefined>,
  ) {}

  has(key: string): boolean {
    return this.entries.has(key);
  }

  /**
   * @param verify verifies a login that is not cached or whose row is no longer valid: it may be valid again, after
   * an unlock or as another credential
   */
  async match(
    key: string,
    addressOf: () => string,
    verify: (address: string) => Promise<Login | undefined>,
  ): Promise<Login | undefined> {
    const entry = this.entries.get(key);
    const current = entry && (isFresh(entry) ? entry.login : await this.recheck(key, entry));
    return current ?? (await this.verifyOnce(key, addressOf(), verify));
  }

  /** Whether a verified login is still valid. Reads its row at most once a second. */
  async isValid(key: string, login: Login): Promise<boolean> {
    const entry = this.entries.get(key);
    if (entry && isFresh(entry)) return true;
    return (await (entry ? this.recheck(key, entry) : this.read(login))) !== undefined;
  }

  forget(key: string): void {
    this.entries.delete(key);
  }

  /** Reads the row again. Concurrent requests share one read. */
  private recheck(key: string, entry: Entry<Login>): Promise<Login | undefined> {
    entry.recheck ??= this.recheckNow(key, entry).finally(() => {
      delete entry.recheck;
    });
    return entry.recheck;
  }

  private async recheckNow(key: string, entry: Entry<Login>): Promise<Login | undefined> {
    const checkedAt = performance.now();
    const login = await this.read(entry.login);
    // Another request may have replaced the entry meanwhile.
    const isCurrent = this.entries.get(key) === entry;
    if (isCurrent && !login) this.entries.delete(key);
    if (!login) return undefined;
    entry.login = login;
    entry.checkedAt = checkedAt;
    this.noteUse(login);
    return login;
  }

  /** Concurrent requests from one address with the same key share one verification. */
  private verifyOnce(
    key: string,
    address: string,
    verify: (address: string) => Promise<Login | undefined>,
  ): Promise<Login | undefined> {
    const keyAndAddress = `${key} ${address}`;
    const pending = this.verifying.get(keyAndAddress);
    if (pending) return pending;
    const verification = this.verify(key, () => verify(address)).finally(() =>
      this.verifying.delete(keyAndAddress),
    );
    this.verifying.set(keyAndAddress, verification);
    return verification;
  }

  private async verify(
    key: string,
    verify: () => Promise<Login | undefined>,
  ): Promise<Login | undefined> {
    const checkedAt = performance.now();
    const login = await verify();
    if (!login) return undefined;
    const entry: Entry<Login> = { login, checkedAt };
    this.entries.set(key, entry);
    this.noteUse(login);
    // Under load, the verification waits in a queue, and the row may have changed since.
    return isFresh(entry) ? login : this.recheck(key, entry);
  }

  private noteUse({ credentialId }: Verified): void {
    if (credentialId !== undefined) this.uses.note(credentialId);
  }
}

function isFresh({ checkedAt }: Pick<Entry<unknown>, 'checkedAt'>): boolean {
  return performance.now() - checkedAt <= CACHED_MS;
}
