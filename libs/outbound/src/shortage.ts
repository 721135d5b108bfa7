import { open } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

/** No file descriptor of the process or the host, no memory, no free port. */
const SHORTAGES: unknown[] = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'];

/** This process or its host has too few file descriptors, ports or too little memory. The target is not at fault. */
export class ShortageError extends Error {
  constructor(cause: unknown) {
    super('this host lacks file descriptors, memory or ports', { cause });
  }
}

/** Whether an error, or a cause of it, is a lack of resources on our own side. */
export function isShortage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return SHORTAGES.includes((error as NodeJS.ErrnoException).code) || isShortage(error.cause);
}

/**
 * A host without any IPv6 address reports each IPv6 address like a lack of ports, but waiting does not help.
 * @returns the error to throw instead
 */
export function connectionError(error: unknown, address: string): unknown {
  const isAboutPort = (error as NodeJS.ErrnoException).code === 'EADDRNOTAVAIL';
  if (!isAboutPort || !isIPv6(address) || hasIpv6()) return error;
  return Object.assign(error as Error, { code: 'ENETUNREACH' });
}

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ family }) => family === 'IPv6'),
  );
}

/**
 * Resolvers hide a lack of file descriptors behind their own errors.
 * @throws an error that {@link isShortage} knows, if no file can be opened
 */
export async function assertDescriptors(): Promise<void> {
  const file = await open('/dev/null');
  await file.close();
}
