import { inHttp, type Problem, url } from '#libs/kernel';

/** Decides which addresses and ports targets may have. */
export abstract class TargetPolicy {
  abstract allowsPort(port: number): boolean;

  /** @param address a literal IP address */
  abstract allowsAddress(address: string): boolean;
}

/** The fault of a target whose port belongs to another service. */
export const RESERVED_PORT = 'must not have a port below 1024 other than 80 and 443';
/** The fault of a target whose address is not public. */
export const PRIVATE_TARGET = 'must not name an address that is not public';
/** The fault of a masked target URL that is not the stored one. */
export const MASKED_TARGET =
  'must have its user information instead of ***, which masks it in responses';

/** How a target can be reached: what `TargetClient` knows how to call. */
const TARGET_SCHEMES = ['http', 'https'] as const;

/** Scheme, user information, rest. A backslash ends the authority, as in WHATWG's URL standard. */
const WITH_USERINFO = /^([a-z]+:\/\/)([^/\\?#]*)@(.*)$/is;
/** Shown in place of a secret. */
export const MASK = '***';

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const LOOPBACK = ['127.0.0.1', '::1'];

/** A target URL in a request. */
export const targetUrlValidator = url(TARGET_SCHEMES, { fragment: false });

/** A target URL as it may be shown, with its user information masked: `https://***@host/…`. */
export function shownTargetUrl(url: string): string {
  return url.replace(WITH_USERINFO, `$1${MASK}@$3`);
}

/** The user information of a target URL, which is a secret; undefined if there is none. */
export function userinfoOf(url: string): string | undefined {
  return WITH_USERINFO.exec(url)?.[2];
}

/** The target URL that is shown as `shown`, with its user information. */
export function withUserinfo(shown: string, userinfo: string): string {
  // A function, because a replacement string would interpret `$`.
  return shown.replace(WITH_USERINFO, (_, scheme: string, _mask, rest: string) => {
    return `${scheme}${userinfo}@${rest}`;
  });
}

/** Whether the user information of a target URL is masked. */
export function isMaskedTargetUrl(text: string): boolean {
  return userinfoOf(text) === MASK;
}

/** Whether a target may have the port of the URL. */
export function hasTargetPort(url: string, policy: TargetPolicy): boolean {
  const { port } = new URL(url);
  return port === '' || policy.allowsPort(Number(port));
}

/**
 * Whether a target may have the host of the URL. Checks what needs no DNS lookup: a literal address in
 * any spelling, or `localhost`. Names pass; their addresses are checked at every dial.
 */
export function hasTargetHost(url: string, policy: TargetPolicy): boolean {
  const host = targetHost(url).replace(/\.+$/, '');
  const allows = (address: string): boolean => policy.allowsAddress(address);
  if (host === 'localhost' || host.endsWith('.localhost')) return LOOPBACK.some(allows);
  if (host.startsWith('[')) return allows(host.slice(1, -1));
  return !IPV4.test(host) || allows(host);
}

/** Whether a target URL contains this IP address itself, not a name that resolved to it. */
export function namesAddress(url: string, address: string): boolean {
  const host = targetHost(url);
  return host === address || host === `[${address}]`;
}

/** The canonical host of a target URL: 127.1, 0x7f000001, %31… and full-width digits in one form. */
export function targetHost(url: string): string {
  return new URL(inHttp(url)).hostname;
}

/** What is wrong with a target whose port or whose host is not allowed. */
export function targetProblem(url: string, policy: TargetPolicy): Problem | undefined {
  if (!hasTargetPort(url, policy)) return { code: 'not_allowed', says: RESERVED_PORT };
  return hasTargetHost(url, policy) ? undefined : { code: 'not_allowed', says: PRIVATE_TARGET };
}

/** What is wrong with a target URL whose user information is masked. */
export function maskProblem(url: string): Problem | undefined {
  return isMaskedTargetUrl(url) ? { code: 'format', says: MASKED_TARGET } : undefined;
}
