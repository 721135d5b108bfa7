import net, { type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { isCallableAddress, type Network } from '#libs/kernel';
import type { TargetResolver } from './target-resolver.js';
import { discardUnaskedContinue } from './unasked-continue.js';

/** The address of a target is not one that may be called. */
export class BlockedAddressError extends Error {
  readonly code = 'EBLOCKED';

  constructor(readonly address: string) {
    super('the address is not public');
  }
}

/** Resolves a name and judges every address that it has. */
export function outboundLookup(
  resolver: TargetResolver,
  allowed: readonly Network[],
): LookupFunction {
  return (hostname, options, callback) => {
    resolver.resolve(hostname).then(
      (addresses) => {
        // One address that is not public condemns the name: it is not an accident.
        const refused = addresses.find(({ address }) => !isCallableAddress(address, allowed));
        if (refused) callback(new BlockedAddressError(refused.address), []);
        else if (options.all === true) callback(null, [...addresses]);
        else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
      },
      (error: unknown) => callback(error as Error, []),
    );
  };
}

/**
 * Connects to public addresses alone. A name is resolved once and a judged address is dialled:
 * there is no second lookup that could answer otherwise.
 */
export function outboundConnector(
  resolver: TargetResolver,
  allowed: readonly Network[],
  timeoutMs: number,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    maxCachedSessions: 500,
    ...{ lookup: outboundLookup(resolver, allowed) },
  });
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    // A literal address is dialled without a lookup, so it is judged here.
    if (net.isIP(host) !== 0 && !isCallableAddress(host, allowed)) {
      queueMicrotask(() => callback(new BlockedAddressError(host), null));
      return;
    }
    connect(options, (...result: buildConnector.CallbackArgs) => {
      if (result[1]) discardUnaskedContinue(result[1]);
      callback(...result);
    });
  };
}
