const EVERY_MS = 10_000;

/**
 * Reports an activity on stderr: its name, the time so far, and its end.
 * @template Result
 * @param {string} what
 * @param {() => Promise<Result>} work
 */
export async function progress(what, work) {
  const start = Date.now();
  const seconds = () => Math.round((Date.now() - start) / 1_000);
  console.error(`${what} …`);
  const timer = setInterval(() => console.error(`${what} … ${seconds()} s`), EVERY_MS);
  try {
    const result = await work();
    console.error(`${what}: done in ${seconds()} s`);
    return result;
  } finally {
    clearInterval(timer);
  }
}
