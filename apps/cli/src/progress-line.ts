import { inOneLine } from './output.js';

const CLEAR_LINE = '\r\u001b[K';

/** A line on standard error that shows how far a command has come, if that is a terminal. */
export const progressLine = {
  show(text: string): void {
    if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE + inOneLine(text));
  },
  clear(): void {
    if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE);
  },
};
