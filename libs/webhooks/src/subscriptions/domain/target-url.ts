import { inHttp, isUrl } from '#libs/kernel';
import type { TargetPolicy } from './target-policy.js';

/** How a target can be reached: what `TargetClient` knows how to call. */
export const TARGET_SCHEMES = ['http', 'https'] as const;

/** Scheme, user information and the rest; a backslash ends the authority as it does in WHATWG's. */
const WITH_USERINFO = /^([a-z]+:\/\/)([^/\\?#]*)@(.*)$/is;
/** What is shown in place of a secret. */
export const MASK = '***';

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const LOOPBACK = ['127.0.0.1', '::1'];

/** Whether the text is the address of a target, as far as its form goes. */
export function isTargetUrl(text: string): boolean {
  return isUrl(text, TARGET_SCHEMES);
}

/** A target's address as it may be shown: `https://***@host/…` in place of user information. */
export function shownTargetUrl(url: string): string {
  return url.replace(WITH_USERINFO, `$1${MASK}@$3`);
}

/** The user information of a target's address, which is a secret; undefined where it has none. */
export function userinfoOf(url: string): string | undefined {
  return WITH_USERINFO.exec(url)?.[2];
}

/** The address that is shown so, with its user information. */
export function withUserinfo(shown: string, userinfo: string): string {
  // By a function: in a text, a $ would have a meaning.
  return shown.replace(WITH_USERINFO, (_, scheme: string, _mask, rest: string) => {
    return `${scheme}${userinfo}@${rest}`;
  });
}

/** Whether the text is a masked address, which does not tell the user information. */
export function isMaskedTargetUrl(text: string): boolean {
  return userinfoOf(text) === MASK;
}

/** Whether the port of a URL is one that a target may have. */
export function hasTargetPort(url: string, policy: TargetPolicy): boolean {
  const { port } = new URL(url);
  return port === '' || policy.allowsPort(Number(port));
}

/**
 * Whether the host of a URL is one that a target may have, as far as it can be judged without
 * asking for its address: a literal address in any spelling, or `localhost`. Names pass; their
 * addresses are judged at every dial.
 */
export function hasTargetHost(url: string, policy: TargetPolicy): boolean {
  const host = targetHost(url).replace(/\.+$/, '');
  const allows = (address: string): boolean => policy.allowsAddress(address);
  if (host === 'localhost' || host.endsWith('.localhost')) return LOOPBACK.some(allows);
  if (host.startsWith('[')) return allows(host.slice(1, -1));
  return !IPV4.test(host) || allows(host);
}

/** Whether a target's address names that IP address itself, and no name that resolved to it. */
export function namesAddress(url: string, address: string): boolean {
  const host = targetHost(url);
  return host === address || host === `[${address}]`;
}

/** The host of a target's address: 127.1, 0x7f000001, %31… and full-width digits in one form. */
export function targetHost(url: string): string {
  return new URL(inHttp(url)).hostname;
}
