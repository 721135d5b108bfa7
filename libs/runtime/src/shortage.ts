/** What a host may lack: file descriptors of the process or of the host, buffers, memory, free ports. */
export const SHORTAGES = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'] as const;
export type Shortage = (typeof SHORTAGES)[number];

/** The resource that this host lacks, according to an error or one of its causes. */
export function shortageOf(error: unknown): Shortage | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  return SHORTAGES.find((shortage) => shortage === code) ?? shortageOf(error.cause);
}
