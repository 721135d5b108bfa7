import dns from 'node:dns';
import net, { type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isCallableAddress, type Network } from '#libs/kernel';

const CONNECT_TIMEOUT_MS = 10_000;

/** The address of a target is not one that may be called. */
export class BlockedAddressError extends Error {
  readonly code = 'EBLOCKED';

  constructor(readonly address: string) {
    super('the address is not public');
  }
}

/**
 * Connects to public addresses alone. A name is resolved once, every address that it has is
 * judged, and a judged one is dialled: there is no second lookup that could answer otherwise.
 */
export function outboundConnector(allowed: readonly Network[]): buildConnector.connector {
  const lookup: LookupFunction = (hostname, options, callback) => {
    dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) {
        callback(error, []);
        return;
      }
      // One address that is not public condemns the name: it is not an accident.
      const refused = addresses.find(({ address }) => !isCallableAddress(address, allowed));
      if (refused) callback(new BlockedAddressError(refused.address), []);
      else if (options.all === true) callback(null, addresses);
      else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
  };
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    maxCachedSessions: 500,
    ...{ lookup },
  });
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    // A literal address is dialled without a lookup, so it is judged here.
    if (net.isIP(host) !== 0 && !isCallableAddress(host, allowed)) {
      queueMicrotask(() => callback(new BlockedAddressError(host), null));
      return;
    }
    connect(options, callback);
  };
}
