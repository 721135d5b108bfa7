import type { LookupAddress } from 'node:dns';
import { once, setMaxListeners } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connectionError, isShortage } from './outbound-errors.js';

/** When the next address is tried beside those that have not answered yet (RFC 8305, section 5). */
const NEXT_MS = 250;
/** Limits for one call. The owner of a name chooses its addresses, and each try takes a file descriptor. */
const MAX_ADDRESSES = 16;
const MAX_AT_ONCE = 6;
const KEEP_ALIVE_MS = 60_000;

/** Why the other connections of a race are given up. */
const WON = new Error('another address was faster');

/** Opens a connection to an address. Closes it, and rejects, when the signal aborts. */
export type Opening = (address: string, signal: AbortSignal) => Promise<Socket>;

/** An open connection and its address. */
export interface Opened {
  socket: Socket;
  address: string;
}

/** Opens TCP connections to a port. They have no timeout of their own. */
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
 * Opens a connection to the first address that accepts one. The next address is tried beside the others after
 * a quarter of a second, or at once when one fails, and none is given up before another has won (RFC 8305).
 * @param race its abortion ends the race; aborted here, too, when one has won
 * @param isHopeless whether further addresses need not be tried after this error
 * @throws the reason of the abortion. If all addresses fail, a shortage of our own if there was one, else the
 * error of the first address
 */
export async function openFirst(
  found: readonly LookupAddress[],
  open: Opening,
  race: AbortController,
  isHopeless: (error: unknown) => boolean = isShortage,
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
    // Each address may listen until the end of the race, which is no leak.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
    const failed = (place: number, error: Error): void => {
      clearTimeout(timer);
      failures[place] = error;
      underWay -= 1;
      if (isHopeless(error)) next = addresses.length;
      if (underWay === 0 && next === addresses.length) {
        reject(failures.find(isShortage) ?? failures[0]!);
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
