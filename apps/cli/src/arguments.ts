import { InvalidArgumentError } from 'commander';

const OF_CLONE = 'npm run cli --';

/** The command as users type it. `tools/cli.mjs` passes this name in place of the program's path. */
export const COMMAND = process.argv[1] === OF_CLONE ? OF_CLONE : 'switchhook';

/** The installation that the commands work on. */
export const WHERE = `
${COMMAND === OF_CLONE ? 'Commands find an npm start that runs in this folder. Otherwise:\n' : ''}\
Commands with --url call the API of this machine unless it is given: http://127.0.0.1:3000, where
npm start listens, or HOST and PORT. All others use the database of DATABASE_URL.`;

/** The end of a command's help. */
export function example(args: string): string {
  return `\nExample:\n  $ ${COMMAND} ${args}`;
}

/** Parses a whole number in the given range. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** Parses an id of an account or an application, without checking that it exists. */
export function numericId(text: string): string {
  if (/^\d{1,19}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a number.');
}
