/**
 * Something that the person at the keyboard can act on: its message is one sentence and is
 * printed without a stack.
 */
export class Problem extends Error {
  /** @override */
  name = 'Problem';
}

/**
 * Prints an error the way a person wants it: a sentence for a {@link Problem}, else the stack.
 * @param {unknown} error
 */
export function report(error) {
  console.error(error instanceof Problem ? `switchhook: ${error.message}` : error);
}
