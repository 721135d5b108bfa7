import ipaddr from 'ipaddr.js';
import type { Network } from '../config/config.js';

/** What IPv6 gives to the public; ipaddr.js calls some of the rest "unicast" too. */
const PUBLIC_IPV6 = ipaddr.parseCIDR('2000::/3');

/** Public by their range, but not meant for customers: a cloud's metadata, anycast sinks. */
const REFUSED = ['168.63.129.16/32', '192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24'].map(
  (block) => ipaddr.parseCIDR(block),
);

/**
 * Whether an IP address may be called: public unicast, or in one of the allowed networks. An
 * IPv4 address inside an IPv6 one is judged as what it is.
 */
export function isCallableAddress(address: string, allowed: readonly Network[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const ip = ipaddr.process(address);
  if (allowed.some((network) => network[0].kind() === ip.kind() && ip.match(network))) return true;
  if (ip.range() !== 'unicast') return false;
  if (ip.kind() === 'ipv6') return ip.match(PUBLIC_IPV6);
  return !REFUSED.some((network) => ip.match(network));
}
