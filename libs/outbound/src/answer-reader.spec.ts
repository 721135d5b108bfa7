import { expect, it } from 'vitest';
import { uncoded } from './answer-reader.js';

it('asks for no coding', () => {
  expect(uncoded({ 'X-A': 'b' })).toEqual({ 'X-A': 'b', 'accept-encoding': 'identity' });
});

it("sends the customer's own Accept-Encoding", () => {
  const own = { 'Accept-encoding': 'gzip' };
  expect(uncoded(own)).toEqual(own);
});
