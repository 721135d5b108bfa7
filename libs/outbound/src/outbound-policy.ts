import { Inject, Injectable } from '@nestjs/common';
import ipaddr from 'ipaddr.js';
import { CONFIG, type Config, type Network } from '#libs/runtime';

type Ip = ipaddr.IPv4 | ipaddr.IPv6;

/** Below these, only the ports of HTTP itself: a target must not be somebody's mail server. */
const FIRST_FREE_PORT = 1_024;
const WEB_PORTS = [80, 443];

/** What IPv6 gives to the public; ipaddr.js calls some of the rest "unicast" too. */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Azure's metadata, in the midst of public addresses. */
const AZURE_METADATA = ipaddr.IPv4.parseCIDR('168.63.129.16/32');

/** IPv6 blocks whose addresses carry an IPv4 one, and the byte at which it begins. */
const CARRIERS = (
  [
    ['::/96', 12], // IPv4-compatible (RFC 4291, section 2.5.5.1)
    ['::ffff:0:0/96', 12], // IPv4-mapped (RFC 4291, section 2.5.5.2)
    ['::ffff:0:0:0/96', 12], // IPv4-translated (RFC 7915)
    ['64:ff9b::/96', 12], // NAT64 (RFC 6052)
    ['64:ff9b:1::/48', 12], // NAT64 within a network (RFC 8215), with a prefix of 96 bits
    ['2002::/16', 2], // 6to4 (RFC 3056)
  ] as const
).map(([block, start]) => ({ block: ipaddr.IPv6.parseCIDR(block), start }));

/** Which addresses and ports may be called, by the configuration. */
@Injectable()
export class OutboundPolicy {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  /** Whether a port is free to be called: 80, 443, 1024 and above, and `DELIVERY_ALLOWED_PORTS`. */
  allowsPort(port: number): boolean {
    const { DELIVERY_ALLOWED_PORTS: allowed } = this.config;
    return port >= FIRST_FREE_PORT || WEB_PORTS.includes(port) || allowed.includes(port);
  }

  /**
   * Whether an IP address may be called: public unicast, or in `DELIVERY_ALLOWED_NETWORKS`, and in
   * neither case in `DELIVERY_DENIED_NETWORKS`. An IPv6 address that carries an IPv4 one is never
   * public, and what it carries must be callable, too.
   */
  allowsAddress(address: string): boolean {
    return ipaddr.isValid(address) && this.allows(ipaddr.parse(address));
  }

  private allows(ip: Ip): boolean {
    const { DELIVERY_ALLOWED_NETWORKS: allowed, DELIVERY_DENIED_NETWORKS: denied } = this.config;
    if (isIn(denied, ip)) return false;
    const carried = ip instanceof ipaddr.IPv6 ? carriedBy(ip) : undefined;
    if (!carried) return isIn(allowed, ip) || isPublic(ip);
    // Wherever it is unwrapped, the packet goes on to the IPv4 address.
    if (!this.allows(carried)) return false;
    // A mapped address is that of an IPv4 socket: there is nobody else who would unwrap it.
    return isIn(allowed, ip) || (ip.range() === 'ipv4Mapped' && isIn(allowed, carried));
  }
}

/** Whether an IP address is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && isPublic(ipaddr.parse(address));
}

function isIn(networks: readonly Network[], ip: Ip): boolean {
  return networks.some((network) => network[0].kind() === ip.kind() && ip.match(network));
}

function isPublic(ip: Ip): boolean {
  if (ip.range() !== 'unicast') return false;
  return ip instanceof ipaddr.IPv6 ? ip.match(PUBLIC_IPV6) : !ip.match(AZURE_METADATA);
}

function carriedBy(ip: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  // :: and ::1 only look like IPv4-compatible addresses.
  if (ip.range() === 'unspecified' || ip.range() === 'loopback') return undefined;
  const bytes = ip.toByteArray();
  const start =
    CARRIERS.find(({ block }) => ip.match(block))?.start ?? (isIsatap(bytes) ? 12 : undefined);
  return start === undefined ? undefined : new ipaddr.IPv4(bytes.slice(start, start + 4));
}

/** An interface identifier of ISATAP (RFC 5214, section 6.1), below any prefix. */
function isIsatap(bytes: readonly number[]): boolean {
  return (
    (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe
  );
}
