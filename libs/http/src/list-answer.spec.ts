import type { Request, Response } from 'express';
import { expect, it } from 'vitest';
import { RateLimitedError } from '#libs/kernel';
import { answerPieces } from './list-answer.js';

const KB = 1 << 10;

// eslint-disable-next-line @typescript-eslint/require-await -- pieces come asynchronously from queries
async function* pieces() {
  for (;;) yield 'x'.repeat(100 * KB);
}

it('counts an answer while it waits for its first byte, and refuses it when that is too much', async () => {
  const held: number[] = [];
  const hold = (bytes: number): void => {
    held.push(bytes);
    if (bytes > 150 * KB) throw new RateLimitedError('Too many bytes.', 1_000);
  };
  const request = { inFlight: { hold } } as Request;
  const response = {} as Response;
  await expect(answerPieces(request, response, pieces())).rejects.toThrow(RateLimitedError);
  expect(held).toEqual([100 * KB, 200 * KB]);
  expect(response).toEqual({});
});
