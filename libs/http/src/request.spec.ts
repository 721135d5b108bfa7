import { EventEmitter } from 'node:events';
import type { Response } from 'express';
import { expect, it } from 'vitest';
import { endOf } from './request.js';

const aResponse = (destroyed: boolean) =>
  Object.assign(new EventEmitter(), { destroyed }) as unknown as Response;

it('is aborted when the answer closes, however often it was asked for', () => {
  const response = aResponse(false);
  const end = endOf(response);
  for (let times = 0; times < 20; times += 1) expect(endOf(response)).toBe(end);
  expect(response.listenerCount('close')).toBe(1);
  expect(end.aborted).toBe(false);
  response.emit('close');
  expect(end.aborted).toBe(true);
  expect(() => end.throwIfAborted()).toThrow('The client has left.');
});

it('is aborted from the beginning if the answer closed before', () => {
  const response = aResponse(true);
  expect(endOf(response).aborted).toBe(true);
  expect(response.listenerCount('close')).toBe(0);
});
