import ipaddr from 'ipaddr.js';

/** Some proxies tell the port, too: `192.0.2.1:5678`, `[2001:db8::1]:5678`. */
const WITH_PORT = /^(?:([\d.]+)|\[(.+)\]):\d+$/;

/**
 * What the addresses have in common that one client can choose from: an IPv4 address stands for
 * itself, an IPv6 address for its /64, which is the least that is given to anybody.
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

/** The /48 of a group of IPv6 addresses: a site is given 65,536 of them. */
export function siteOf(group: string): string {
  return group.endsWith('::/64') ? `${group.split(':', 3).join(':')}::/48` : group;
}
