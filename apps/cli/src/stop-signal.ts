/** Under npm, one Ctrl-C comes twice: from the terminal, and passed on by npm. */
const SAME_STOP_MS = 1_000;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Aborts when the command is told to stop, by Ctrl-C or by SIGTERM. A later signal ends the process at once. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  const onSignal = (): void => {
    if (stop.signal.aborted) return;
    stop.abort();
    setTimeout(() => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
    }, SAME_STOP_MS).unref();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return stop.signal;
}
