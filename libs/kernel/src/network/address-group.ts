import ipaddr from 'ipaddr.js';

/** Some proxies add the port: `192.0.2.1:5678`, `[2001:db8::1]:5678`. */
const WITH_PORT = /^(?:([\d.]+)|\[(.+)\]):\d+$/;

/**
 * The network that one client can choose addresses from: an IPv4 address itself, or the /64 of an IPv6
 * address, which is the smallest block that providers assign.
 */
export function addressGroup(address: string): string {
  const [, ipv4, ipv6] = WITH_PORT.exec(address) ?? [];
  const alone = ipv4 ?? ipv6 ?? address;
  if (!ipaddr.isValid(alone)) return address;
  const ip = ipaddr.process(alone);
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
