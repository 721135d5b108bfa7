import { Injectable } from '@nestjs/common';
import { type Sealed, SecretBox, UnreadableSecretError } from '#libs/kernel';
import { isReservedHeader } from './webhook-headers.js';
import { MASK, shownTargetUrl, userinfoOf, withUserinfo } from './target-url.js';

/** The secret parts of a subscription. */
export type SecretField = 'secret' | 'userinfo' | 'header';

/** A target and its headers as they are stored. */
export interface SealedTarget {
  accountId: string;
  /** With its user information masked. */
  targetUrl: string;
  /** The user information behind the mask. */
  userinfo: Sealed | null;
  /** Values by name. */
  headers: Readonly<Record<string, Sealed>> | null;
}

/** Seals and opens the secrets of subscriptions. Each secret is bound to its account. */
@Injectable()
export class WebhookSecrets {
  constructor(private readonly box: SecretBox) {}

  seal(accountId: string, field: SecretField, text: string): Sealed {
    return this.box.seal(text, purpose(accountId, field));
  }

  /** @throws UnreadableSecretError */
  open(accountId: string, field: SecretField, sealed: Sealed): string {
    return this.box.open(sealed, purpose(accountId, field));
  }

  sealTarget(accountId: string, url: string): Pick<SealedTarget, 'targetUrl' | 'userinfo'> {
    const userinfo = userinfoOf(url);
    return {
      targetUrl: shownTargetUrl(url),
      userinfo: userinfo === undefined ? null : this.seal(accountId, 'userinfo', userinfo),
    };
  }

  /** The address with its user information. @throws UnreadableSecretError */
  targetUrl({ accountId, targetUrl, userinfo }: SealedTarget): string {
    if (userinfo === null) return targetUrl;
    return withUserinfo(targetUrl, this.open(accountId, 'userinfo', userinfo));
  }

  /** Whether the URL is the stored target, in full or in its masked form. */
  hasTarget(target: SealedTarget, url: string): boolean {
    const { targetUrl: shown } = target;
    if (url === shown || shownTargetUrl(url) !== shown) return url === shown;
    return readOf(() => this.targetUrl(target)) === url;
  }

  /** @param headers a masked value keeps the header's present value */
  sealHeaders(
    { accountId, headers: present }: Pick<SealedTarget, 'accountId' | 'headers'>,
    headers: Readonly<Record<string, string>> | null,
  ): Record<string, Sealed> | null {
    const kept = new Map(
      Object.entries(present ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
    );
    const sealed = Object.entries(headers ?? {}).map(([name, value]): [string, Sealed] => {
      const unchanged = value === MASK ? kept.get(name.toLowerCase()) : undefined;
      return [name, unchanged ?? this.seal(accountId, 'header', value)];
    });
    return sealed.length === 0 ? null : Object.fromEntries(sealed);
  }

  /** The headers to send, with their values. @throws UnreadableSecretError */
  headers({ accountId, headers }: SealedTarget): Record<string, string> {
    // A header may have been stored before its name was reserved.
    const sent = Object.entries(headers ?? {}).filter(([name]) => !isReservedHeader(name));
    return Object.fromEntries(
      sent.map(([name, sealed]) => [name, this.open(accountId, 'header', sealed)]),
    );
  }

  /** Whether these are the target's headers, each in full or in its masked form. */
  hasHeaders(
    { accountId, headers: present }: SealedTarget,
    headers: Readonly<Record<string, string>> | null,
  ): boolean {
    const sealed = new Map(Object.entries(present ?? {}));
    const given = Object.entries(headers ?? {});
    return (
      given.length === sealed.size &&
      given.every(([name, value]) => {
        const stored = sealed.get(name);
        if (stored === undefined || value === MASK) return stored !== undefined;
        return readOf(() => this.open(accountId, 'header', stored)) === value;
      })
    );
  }

  /** The secrets that cannot be opened with the present keys. */
  unreadable(accountId: string, secrets: readonly Sealed[]): Sealed[] {
    return secrets.filter(
      (sealed) => readOf(() => this.open(accountId, 'secret', sealed)) === null,
    );
  }
}

/** Binds a sealed value to its account, so that copying it into another account's row does not work. */
function purpose(accountId: string, field: SecretField): string {
  return `webhook ${field} of account ${accountId}`;
}

/** Null if the value is unreadable, so that any given value differs from it and replaces it. */
function readOf(read: () => string): string | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableSecretError) return null;
    throw error;
  }
}
