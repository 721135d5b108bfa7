import { StringDecoder } from 'node:string_decoder';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import {
  atOnce,
  inSlices,
  JsonReader,
  JsonSyntaxError,
  type Steps,
  TooManyValuesError,
} from '#libs/kernel';
import {
  type BodyLimit,
  bytesOf,
  MAX_DEPTH,
  maxValues,
  notAnObject,
  notJson,
  readJsonBytes,
  textStart,
  tooDeep,
  tooManyValues,
} from './read-body.js';
import { configOf } from './request.js';

/** A body of at most so many bytes is read at once: waiting for a slice costs more. */
const SHORT = 4 << 10;

/** Reads what a route needs of its body, which is a JSON object. It must read all of it. */
type ReadObject<Result> = (json: JsonReader) => Steps<Result>;

/** @throws DomainError if the body is not JSON, has too many values or is not an object */
export type ReadBody = <Result>(read: ReadObject<Result>) => Promise<Result>;

/**
 * The body, for routes that read a long one in pieces, so that nobody waits while it is parsed. The route has to read it
 * before it throws any other error.
 */
export const JsonPieces = createParamDecorator(jsonPieces);

export async function jsonPieces(limit: BodyLimit, context: ExecutionContext): Promise<ReadBody> {
  const request = context.switchToHttp().getRequest<Request>();
  const bytes = await readJsonBytes(request, limit);
  const most = maxValues(bytesOf(limit, configOf(request)));
  const start = textStart(bytes);
  const { accountId: party = '' } = request;
  return async (read) => {
    const charactersUntil = (at: number) =>
      inSlices(party, charactersIn(bytes.subarray(start, at)));
    // In a batch, each event is checked separately.
    const depth = limit === 'MAX_BATCH_BYTES' ? Infinity : MAX_DEPTH;
    const json = new JsonReader(bytes, start, most, depth);
    try {
      const steps = objectIn(json, read);
      const result = bytes.length <= SHORT ? atOnce(steps) : await inSlices(party, steps);
      if (json.tooDeepAt === undefined) return result;
    } catch (error) {
      if (error instanceof JsonSyntaxError) throw notJson(bytes, error.at);
      if (!(error instanceof TooManyValuesError)) throw error;
      throw tooManyValues(most, await charactersUntil(error.at));
    }
    throw tooDeep(await charactersUntil(json.tooDeepAt));
  };
}

function* objectIn<Result>(json: JsonReader, read: ReadObject<Result>): Steps<Result> {
  if (!(yield* json.isObject())) {
    yield* json.value();
    yield* json.end();
    throw notAnObject();
  }
  const result = yield* read(json);
  yield* json.end();
  return result;
}

/** Bytes that are decoded between two pauses. */
const PIECE = 16 << 10;

function* charactersIn(bytes: Buffer): Steps<number> {
  const decoder = new StringDecoder('utf8');
  let count = 0;
  for (let at = 0; at < bytes.length; at += PIECE) {
    count += decoder.write(bytes.subarray(at, at + PIECE)).length;
    yield;
  }
  return count;
}
