import ipaddr from 'ipaddr.js';

/**
 * The network that one client can choose addresses from: an IPv4 address itself, or the /64 of an IPv6
 * address, which is the smallest block that providers assign.
 */
export function addressGroup(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const ip = ipaddr.process(address);
  if (ip instanceof ipaddr.IPv4) return ip.toString();
  return `${ip.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

/** The /48 of an IPv6 /64: a site is assigned 65,536 of those. */
export function siteOf(group: string): string {
  return group.endsWith('::/64') ? `${group.split(':', 3).join(':')}::/48` : group;
}
