import { Inject, Injectable } from '@nestjs/common';
import ipaddr from 'ipaddr.js';
import { CONFIG, type Config, type Network } from '#libs/runtime';

type Ip = ipaddr.IPv4 | ipaddr.IPv6;

/** Below this port, only HTTP's own ports are allowed: a target must not be a mail server. */
const FIRST_FREE_PORT = 1_024;
const WEB_PORTS = [80, 443];

/** The public part of IPv6. ipaddr.js also calls some of the rest "unicast". */
const PUBLIC_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Azure's metadata service, which has a public address. */
const AZURE_METADATA = ipaddr.IPv4.parseCIDR('168.63.129.16/32');

/** IPv6 blocks with embedded IPv4 addresses, and the byte at which those begin. */
const EMBEDDING = (
  [
    ['::/96', 12], // IPv4-compatible (RFC 4291, section 2.5.5.1)
    ['::ffff:0:0/96', 12], // IPv4-mapped (RFC 4291, section 2.5.5.2)
    ['::ffff:0:0:0/96', 12], // IPv4-translated (RFC 7915)
    ['64:ff9b::/96', 12], // NAT64 (RFC 6052)
    ['64:ff9b:1::/48', 12], // NAT64 within a network (RFC 8215), with a 96-bit prefix
    ['2002::/16', 2], // 6to4 (RFC 3056)
  ] as const
).map(([block, start]) => ({ block: ipaddr.IPv6.parseCIDR(block), start }));

/** Decides by the configuration which addresses and ports may be called. */
@Injectable()
export class OutboundPolicy {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  /** Whether a port may be called: 80, 443, 1024 and above. */
  allowsPort(port: number): boolean {
    return port >= FIRST_FREE_PORT || WEB_PORTS.includes(port);
  }

  /**
   * Whether an IP address may be called: it must be public unicast or in `DELIVERY_ALLOWED_NETWORKS`, and not
   * in `DELIVERY_DENIED_NETWORKS`. An IPv6 address with an embedded IPv4 address is never public, and the
   * embedded address must be allowed, too.
   */
  allowsAddress(address: string): boolean {
    return ipaddr.isValid(address) && this.allows(ipaddr.parse(address));
  }

  private allows(ip: Ip): boolean {
    const { DELIVERY_ALLOWED_NETWORKS: allowed, DELIVERY_DENIED_NETWORKS: denied } = this.config;
    if (isIn(denied, ip)) return false;
    const embedded = ip instanceof ipaddr.IPv6 ? embeddedIn(ip) : undefined;
    if (!embedded) return isIn(allowed, ip) || isPublic(ip);
    // A gateway would forward the packet to the IPv4 address.
    if (!this.allows(embedded)) return false;
    // A mapped address means an IPv4 socket of this host, so no gateway is involved.
    return isIn(allowed, ip) || (ip.range() === 'ipv4Mapped' && isIn(allowed, embedded));
  }
}

/** Whether an IP address belongs to the public internet. */
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

function embeddedIn(ip: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  // :: and ::1 only look like IPv4-compatible addresses.
  if (ip.range() === 'unspecified' || ip.range() === 'loopback') return undefined;
  const bytes = ip.toByteArray();
  const start =
    EMBEDDING.find(({ block }) => ip.match(block))?.start ?? (isIsatap(bytes) ? 12 : undefined);
  return start === undefined ? undefined : new ipaddr.IPv4(bytes.slice(start, start + 4));
}

/** Whether the address has an ISATAP interface identifier (RFC 5214, section 6.1), with any prefix. */
function isIsatap(bytes: readonly number[]): boolean {
  return (
    (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe
  );
}
