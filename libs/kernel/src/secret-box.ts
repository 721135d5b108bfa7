import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { DomainError } from './errors.js';

declare const isSealed: unique symbol;

/** A secret in its stored form, as {@link SecretBox.seal} makes it. */
export type Sealed = string & { readonly [isSealed]: true };

/** An AES-256 key; its id becomes part of the secrets that it seals. */
export interface SecretKey {
  id: string;
  key: KeyObject;
}

/** A stored secret cannot be read. The cause says why, for the log only. */
export class UnreadableSecretError extends DomainError {
  /** @param reason for operators: it names the key, never the secret */
  constructor(readonly reason: string) {
    super('unavailable', 'unavailable', 'A stored secret cannot be read now.', {
      cause: new Error(reason),
    });
  }
}

const ALGORITHM = 'aes-256-gcm';
/** NIST SP 800-38D, section 8.2.2: 96 random bits; a key is good for 2^32 of them. */
const IV_BYTES = 12;
const TAG_BYTES = 16;

const SEALED = 'sealed:';
/** Marks text stored without a key that itself begins with one of these two prefixes. */
const PLAIN = 'plain:';
const PARTS = /^sealed:([\w-]+):([\w-]+)$/;

/** Opened secrets to cache, because a worker needs the same ones repeatedly. */
const MAX_CACHED = 10_000;

/**
 * Seals secrets with AES-256-GCM: `sealed:<key id>:<base64url of IV, ciphertext, tag>`. Without a key,
 * secrets are stored as plain text, which stays readable once there is a key.
 */
export class SecretBox {
  /** The id of the key that seals; undefined when there is none. */
  readonly keyId: string | undefined;
  /** A key that stored secrets need and that it does not have, once one was to be opened. */
  missingKey: string | undefined;
  private readonly keys: ReadonlyMap<string, KeyObject>;
  private readonly opened = new LRUCache<string, string>({ max: MAX_CACHED });

  /**
   * @param keys the first one seals, all of them open
   * @param onUnreadable called for each secret that cannot be opened
   */
  constructor(
    keys: readonly SecretKey[],
    private readonly onUnreadable: () => void = () => undefined,
  ) {
    this.keys = new Map(keys.map(({ id, key }) => [id, key]));
    this.keyId = keys[0]?.id;
  }

  /** @param purpose what the secret is and whom it belongs to; {@link open} needs the same one */
  seal(text: string, purpose: string): Sealed {
    const key = this.keys.get(this.keyId ?? '');
    if (!key) {
      const isPlain = !text.startsWith(SEALED) && !text.startsWith(PLAIN);
      return (isPlain ? text : PLAIN + text) as Sealed;
    }
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, iv).setAAD(Buffer.from(purpose));
    const parts = [iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
    return (this.prefix + Buffer.concat(parts).toString('base64url')) as Sealed;
  }

  /** @throws UnreadableSecretError */
  open(sealed: Sealed, purpose: string): string {
    if (!sealed.startsWith(SEALED)) {
      return sealed.startsWith(PLAIN) ? sealed.slice(PLAIN.length) : sealed;
    }
    const name = `${purpose} ${sealed}`;
    const known = this.opened.get(name);
    if (known !== undefined) return known;
    const text = this.decrypt(sealed, purpose);
    this.opened.set(name, text);
    return text;
  }

  /** The prefix of newly sealed texts; empty without a key. */
  get prefix(): string {
    return this.keyId === undefined ? '' : `${SEALED}${this.keyId}:`;
  }

  private decrypt(sealed: Sealed, purpose: string): string {
    const [, id = '', base64 = ''] = PARTS.exec(sealed) ?? [];
    const key = this.keys.get(id);
    if (!key) {
      // A text that is damaged names none.
      this.missingKey = id || this.missingKey;
      throw this.unreadable(`SECRETS_KEYS has no key "${id}", with which it is sealed`);
    }
    const bytes = Buffer.from(base64, 'base64url');
    try {
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-TAG_BYTES));
      const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8');
      return text + decipher.final('utf8');
    } catch {
      throw this.unreadable(`the key "${id}" did not seal it as ${purpose}`);
    }
  }

  private unreadable(reason: string): UnreadableSecretError {
    this.onUnreadable();
    return new UnreadableSecretError(reason);
  }
}
