import ipaddr from 'ipaddr.js';

/**
 * What the addresses have in common that one client can choose from: an IPv4 address stands for
 * itself, an IPv6 address for its /64, which is the least that is given to anybody.
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
