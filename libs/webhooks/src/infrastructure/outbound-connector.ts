import net, { type LookupFunction, type Socket } from 'node:net';
import { buildConnector } from 'undici';
import { isCallableAddress, type Network } from '#libs/kernel';
import type { TargetResolver } from './target-resolver.js';

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
      if (result[1]) skipContinue(result[1]);
      callback(...result);
    });
  };
}

const CONTINUE = Buffer.from('HTTP/1.1 100 ');
const HEAD_END = '\r\n\r\n';

/**
 * Passes over `100 Continue`, which some servers send unasked. A client can simply discard it (RFC
 * 9110, section 15.2.1); undici drops the connection, and with it the answer that follows.
 */
function skipContinue(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  socket.read = (size?: number) => {
    let chunk = read(size);
    while (chunk?.subarray(0, CONTINUE.length).equals(CONTINUE)) {
      const end = chunk.indexOf(HEAD_END);
      if (end < 0) break;
      const rest = chunk.subarray(end + HEAD_END.length);
      chunk = rest.length > 0 ? rest : read(size);
    }
    return chunk;
  };
}
