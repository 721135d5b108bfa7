import { Injectable } from '@nestjs/common';
import { type Sealed, SecretBox, UnreadableSecretError } from '#libs/kernel';
import { isReservedHeader } from './webhook-headers.js';
import { isMaskedTargetUrl, MASK, shownTargetUrl, userinfoOf, withUserinfo } from './target-url.js';

/** What of a subscription is secret. */
export type SecretField = 'secret' | 'userinfo' | 'header';

/** Where notifications go, and what goes with them, as it is stored. */
export interface SealedTarget {
  accountId: string;
  /** User information is masked; in rows of the version before, it is there. */
  targetUrl: string;
  /** What the mask stands for. */
  userinfo: Sealed | null;
  /** Values by name. */
  headers: Readonly<Record<string, Sealed>> | null;
}

/** Seals and opens the secrets of subscriptions, each for its account alone. */
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
    // A process of the version before may have put another address beside the user information.
    if (userinfo === null || !isMaskedTargetUrl(targetUrl)) return targetUrl;
    return withUserinfo(targetUrl, this.open(accountId, 'userinfo', userinfo));
  }

  /** Whether the text means the target: itself, or itself as it is shown. */
  hasTarget(target: SealedTarget, url: string): boolean {
    const shown = shownTargetUrl(target.targetUrl);
    if (url === shown || shownTargetUrl(url) !== shown) return url === shown;
    return readOf(() => this.targetUrl(target)) === url;
  }

  /** @param headers a mask stands for the value that the header of the target has */
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
    // One may have been stored before its name was reserved.
    const sent = Object.entries(headers ?? {}).filter(([name]) => !isReservedHeader(name));
    return Object.fromEntries(
      sent.map(([name, sealed]) => [name, this.open(accountId, 'header', sealed)]),
    );
  }

  /** Whether these are the target's headers, each as it is or as it is shown. */
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

  /** Those of them that cannot be read now. */
  unreadable(accountId: string, secrets: readonly Sealed[]): Sealed[] {
    return secrets.filter(
      (sealed) => readOf(() => this.open(accountId, 'secret', sealed)) === null,
    );
  }
}

/** An account cannot be given what was sealed for another one, not even by who writes its rows. */
function purpose(accountId: string, field: SecretField): string {
  return `webhook ${field} of account ${accountId}`;
}

/** Null where it cannot be read: what is given anew differs from that, and so replaces it. */
function readOf(read: () => string): string | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableSecretError) return null;
    throw error;
  }
}
