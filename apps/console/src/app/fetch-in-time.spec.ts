import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fetchInTime, SILENCE_MS, SilenceError } from './fetch-in-time.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** An API that sends these parts of an answer, then nothing; without any, not even the head. */
function answering(parts: readonly string[], isWhole = false): void {
  vi.stubGlobal('fetch', (_: Request, { signal }: { signal: AbortSignal }) => {
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
    if (parts.length === 0) return aborted;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const part of parts) controller.enqueue(new TextEncoder().encode(part));
        if (isWhole) controller.close();
        aborted.catch((error: unknown) => controller.error(error));
      },
    });
    return Promise.resolve(new Response(body));
  });
}

const aRequest = (signal?: AbortSignal) =>
  new Request('http://api.example/v1/stream', {
    headers: { Accept: 'text/event-stream' },
    ...(signal && { signal }),
  });

it('fails without an answer', async () => {
  answering([]);
  const answer = expect(fetchInTime(aRequest())).rejects.toThrow(SilenceError);
  await vi.advanceTimersByTimeAsync(SILENCE_MS);
  await answer;
});

it('fails if the next part of a stream does not come', async () => {
  answering(['a part']);
  const reader = (await fetchInTime(aRequest())).body!.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('a part');
  const rest = expect(reader.read()).rejects.toThrow(SilenceError);
  await vi.advanceTimersByTimeAsync(SILENCE_MS);
  await rest;
});

it('gives the reader of a stream any time', async () => {
  answering(['a part', ', the rest'], true);
  const response = await fetchInTime(aRequest());
  await vi.advanceTimersByTimeAsync(10 * SILENCE_MS);
  expect([response.status, await response.text()]).toEqual([200, 'a part, the rest']);
});

it('ends with the signal of its request', async () => {
  answering([]);
  const caller = new AbortController();
  const answer = fetchInTime(aRequest(caller.signal));
  caller.abort();
  await expect(answer).rejects.toThrow('aborted');
});
