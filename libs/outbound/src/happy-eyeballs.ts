import type { LookupAddress } from 'node:dns';
import { once, setMaxListeners } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connectionError, isShortage, ownFaultOf } from './outbound-errors.js';

/** The Connection Attempt Delay (RFC 8305, section 5). */
const NEXT_MS = 250;
/** Limits for one call, because each try takes a file descriptor and the owner of the name chooses the addresses. */
const MAX_ADDRESSES = 16;
const MAX_AT_ONCE = 6;
const KEEP_ALIVE_MS = 60_000;

const WON = new Error('another address was faster');

/** Opens a connection to an address. Closes it, and rejects, when the signal aborts. */
export type Opening = (address: string, signal: AbortSignal) => Promise<Socket>;

/** An open connection and its address. */
export interface Opened {
  socket: Socket;
  address: string;
}

/** Opens TCP connections to a port, without a timeout. */
export function tcpTo(port: number): Opening {
  return async (address, signal) => {
    const socket = connect({
      host: address,
      port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
    });
    try {
      await once(socket, 'connect', { signal });
      return socket;
    } catch (error) {
      socket.destroy();
      throw connectionError(error, address);
    }
  };
}

/**
 * Opens a connection to the first address that accepts one (Happy Eyeballs, RFC 8305): tries the next address
 * after a quarter of a second, or at once when one fails, while the earlier attempts continue.
 * @param race aborting it ends the race; aborted here when an attempt has won
 * @param isFinal whether further addresses need not be tried after this error
 * @throws the reason of the abort. If all addresses fail, a shortage of our own if there was one, else the
 * error of the first address that our own side could call
 */
export async function openFirst(
  found: readonly LookupAddress[],
  open: Opening,
  race: AbortController,
  isFinal: (error: unknown) => boolean = isShortage,
): Promise<Opened> {
  const { signal } = race;
  if (found.length === 1) {
    const { address } = found[0]!;
    return { socket: await open(address, signal), address };
  }
  const addresses = alternating(found).slice(0, MAX_ADDRESSES);
  return new Promise((resolve, reject) => {
    const failures = new Array<Error>(addresses.length);
    let next = 0;
    let underWay = 0;
    let timer: NodeJS.Timeout | undefined;
    // One listener for each address is no leak.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
    const failed = (place: number, error: Error): void => {
      clearTimeout(timer);
      failures[place] = error;
      underWay -= 1;
      if (isFinal(error)) next = addresses.length;
      if (underWay === 0 && next === addresses.length) {
        const isTheirs = (one: Error) => ownFaultOf(one) === undefined;
        reject(failures.find(isShortage) ?? failures.find(isTheirs) ?? failures[0]!);
      } else startNext();
    };
    const startNext = (): void => {
      if (signal.aborted || next === addresses.length || underWay === MAX_AT_ONCE) return;
      const place = next;
      const address = addresses[place]!;
      next += 1;
      underWay += 1;
      open(address, signal).then(
        (socket) => {
          if (signal.aborted) {
            socket.destroy();
            return;
          }
          resolve({ socket, address });
          race.abort(WON);
        },
        (error: unknown) => failed(place, error as Error),
      );
      if (next < addresses.length) timer = setTimeout(startNext, NEXT_MS);
    };
    startNext();
  });
}

/** Alternates between IPv4 and IPv6, beginning with the family of the first address (RFC 8305, section 4). */
function alternating(found: readonly LookupAddress[]): string[] {
  const first = found.filter(({ family }) => family === found[0]?.family);
  const second = found.filter((each) => !first.includes(each));
  const pairs = first.flatMap((each, place) => [each, ...second.slice(place, place + 1)]);
  return [...pairs, ...second.slice(first.length)].map(({ address }) => address);
}
