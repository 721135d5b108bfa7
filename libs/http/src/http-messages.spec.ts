import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Express } from 'express';
import { expect, it } from 'vitest';
import { messagesFor } from './http-messages.js';

const messages = messagesFor({
  request: Object.create(IncomingMessage.prototype) as object,
  response: Object.create(ServerResponse.prototype) as object,
} as Express);

const aRequest = () => new messages.IncomingMessage(new Socket());

/** The pieces of the body that a request emits. */
function piecesOf(request: IncomingMessage): { pieces: Buffer[]; ended: Promise<unknown> } {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  return { pieces, ended: new Promise((resolve) => request.once('end', resolve)) };
}

const BODY = 'a body in chunks of a byte each '.repeat(500);

it('merges the chunks of a body that is not read yet', async () => {
  const request = aRequest();
  for (const byte of BODY) request.push(Buffer.from(byte));
  request.push(null);
  const { pieces, ended } = piecesOf(request);
  await ended;
  expect(Buffer.concat(pieces).toString()).toBe(BODY);
  expect(pieces.length).toBeLessThan(25);
});

it('emits the received chunks at once while the body is read, whatever their size', async () => {
  const request = aRequest();
  const { pieces, ended } = piecesOf(request);
  await new Promise(setImmediate);
  const text = () => Buffer.concat(pieces).toString();
  for (let at = 0; at < BODY.length; at += 100) {
    const slice = BODY.slice(at, at + 100);
    for (const byte of slice) request.push(Buffer.from(byte));
    await new Promise(setImmediate);
    expect(text()).toBe(BODY.slice(0, at + slice.length));
  }
  request.push(Buffer.alloc(5_000, 'x'));
  request.push(Buffer.from('y'));
  request.push(null);
  await ended;
  expect(text()).toBe(`${BODY}${'x'.repeat(5_000)}y`);
  expect(pieces.length).toBeLessThan(200);
});

it('stops receiving a body that is not read', () => {
  const request = aRequest();
  let taken = 0;
  while (request.push(Buffer.from('x')) && taken < 1_000_000) taken += 1;
  expect(taken).toBeLessThan(2 * request.readableHighWaterMark);
});
