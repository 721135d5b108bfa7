import type { Request } from 'express';
import { inSlices, type Steps } from '#libs/kernel';
import { Answer } from './answer.js';
import { answerPieces } from './list-answer.js';

/** About how long the pieces of an answer are, in characters. */
const PIECE = 16 << 10;

/** An object with one list, whose items are formatted as they are sent: each once, in their order. */
export function listAs<Item>(
  name: string,
  items: readonly Item[],
  textOf: (item: Item, index: number) => string,
): Answer {
  return new Answer((request, response, status) =>
    answerPieces(request, response, formatted(request, name, items, textOf), status),
  );
}

async function* formatted<Item>(
  { accountId = '' }: Request,
  name: string,
  items: readonly Item[],
  textOf: (item: Item, index: number) => string,
): AsyncGenerator<string> {
  yield `{"${name}":[`;
  let done = 0;
  while (done < items.length) {
    const texts = await inSlices(accountId, textsFrom(done, items, textOf));
    yield `${done > 0 ? ',' : ''}${texts.join(',')}`;
    done += texts.length;
  }
  yield ']}';
}

/** The texts of the next items, which fill about one piece. */
function* textsFrom<Item>(
  start: number,
  items: readonly Item[],
  textOf: (item: Item, index: number) => string,
): Steps<string[]> {
  const texts: string[] = [];
  let length = 0;
  for (let index = start; index < items.length && length < PIECE; index += 1) {
    const text = textOf(items[index]!, index);
    texts.push(text);
    length += text.length;
    yield;
  }
  return texts;
}
