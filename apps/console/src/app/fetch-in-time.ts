/** An API that sends nothing for this long does not answer. The stream has a sign of life every 10 s. */
export const SILENCE_MS = 15_000;

const STREAM = 'text/event-stream';

/** The API has taken a request, and has sent nothing for {@link SILENCE_MS}. */
export class SilenceError extends Error {
  override readonly name = 'SilenceError';
}

/**
 * `fetch`, which waits for the head at most {@link SILENCE_MS}, and so for each part of a stream, whose reader may take
 * its time. @throws SilenceError, also from the body of a stream
 */
export async function fetchInTime(request: Request): Promise<Response> {
  const call = new AbortController();
  const { signal } = request;
  signal.addEventListener('abort', () => call.abort(signal.reason));
  async function inTime<Value>(promise: Promise<Value>): Promise<Value> {
    let silence: SilenceError | undefined;
    const timer = setTimeout(() => call.abort((silence = new SilenceError())), SILENCE_MS);
    try {
      return await promise;
    } catch (error) {
      // Some browsers throw an error of their own instead of the reason.
      throw silence ?? error;
    } finally {
      clearTimeout(timer);
    }
  }
  if (signal.aborted) call.abort(signal.reason);
  const response = await inTime(fetch(request, { signal: call.signal }));
  if (request.headers.get('Accept') !== STREAM || !response.body) return response;
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await inTime(reader.read());
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // It reads nothing that nobody waits for.
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}
