import { JSON_TYPE } from './answer.js';

/** How the texts of rows become a body. */
export interface Layout {
  type: string;
  opening: string;
  between: string;
  closing: string;
}

export const ARRAY: Layout = { type: JSON_TYPE, opening: '[', between: ',', closing: ']' };
/** Of texts that end with a line break. */
export const LINES: Layout = {
  ...{ type: 'application/x-ndjson', opening: '', between: '', closing: '' },
};

/** Texts as a body. */
export function laidOut(texts: readonly string[], { opening, between, closing }: Layout): string {
  return opening + texts.join(between) + closing;
}

/** Texts as a body that is sent in pieces. */
export async function* joined(
  chunks: AsyncGenerator<string[]>,
  { opening, between, closing }: Layout = ARRAY,
): AsyncGenerator<string> {
  let start = opening;
  let isEmpty = true;
  for await (const texts of chunks) {
    if (texts.length === 0) continue;
    yield start + texts.join(between);
    start = between;
    isEmpty = false;
  }
  yield isEmpty ? opening + closing : closing;
}
