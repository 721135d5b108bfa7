import { setTimeout as delay } from 'node:timers/promises';

/** Reads until the value is as wanted, and returns it. */
export async function eventually<Value>(
  read: () => Promise<Value>,
  wanted: (value: Value) => boolean,
  ms = 20_000,
): Promise<Value> {
  const deadline = Date.now() + ms;
  for (;;) {
    const value = await read();
    if (wanted(value)) return value;
    if (Date.now() > deadline) throw new Error(`not so after ${ms} ms: ${JSON.stringify(value)}`);
    await delay(20);
  }
}
