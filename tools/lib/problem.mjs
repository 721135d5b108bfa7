/** An error that the user can fix: its message is one sentence and is printed without a stack. */
export class Problem extends Error {
  /** @override */
  name = 'Problem';
}

/**
 * Prints the message of a {@link Problem}, and the stack of any other error.
 * @param {unknown} error
 */
export function report(error) {
  console.error(error instanceof Problem ? `switchhook: ${error.message}` : error);
}
