/** What a host may lack: file descriptors of the process or of the host, buffers, memory, free ports. */
export const SHORTAGES = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'] as const;
export type Shortage = (typeof SHORTAGES)[number];

/** The lack of a resource on our own side that an error, or a cause of it, reports. */
export function shortageOf(error: unknown): Shortage | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  return SHORTAGES.find((shortage) => shortage === code) ?? shortageOf(error.cause);
}
