const EVERY_MS = 10_000;

/**
 * Says on stderr what is happening, how long it has taken so far, and when it is done.
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
