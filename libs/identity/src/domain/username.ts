import { ValidationError } from '#libs/kernel';

export const USERNAME = /^[A-Za-z][A-Za-z0-9._@-]{0,63}$/;

/** Whether the text is a valid username. Usernames start with a letter, so they are never ids. */
export function isUsername(text: string): boolean {
  return USERNAME.test(text);
}

/** @throws ValidationError unless the text is a valid username */
export function requireUsername(text: string): void {
  if (isUsername(text)) return;
  throw ValidationError.of('username', 'format', `username ${USERNAME_RULE}.`);
}

/** The rule for usernames, in words. */
export const USERNAME_RULE =
  'must be a letter and up to 63 more letters, digits or the characters . _ @ -';
