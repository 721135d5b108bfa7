/** Under npm, one Ctrl-C arrives twice: from the terminal, and forwarded by npm. */
const SAME_STOP_MS = 1_000;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Aborts on Ctrl-C or SIGTERM. A later signal ends the process at once. */
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
