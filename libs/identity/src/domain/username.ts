import { requireValid, string } from '#libs/kernel';

const USERNAME = /^[A-Za-z][A-Za-z0-9._@-]{0,63}$/;

/** Whether the text is a valid username. Usernames start with a letter, so they are never ids. */
export function isUsername(text: string): boolean {
  return USERNAME.test(text);
}

/** A username in a request. */
export const usernamePart = string().and(
  'format',
  'must be a letter and up to 63 more letters, digits or the characters . _ @ -',
  isUsername,
  { pattern: USERNAME.source },
);

/** @throws ValidationError unless the text is a valid username */
export function requireUsername(text: string): void {
  requireValid('username', text, usernamePart);
}
