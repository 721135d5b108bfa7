import { ValidationError } from '#libs/kernel';

/** What a username looks like. */
export const USERNAME = /^[A-Za-z][A-Za-z0-9._@-]{0,63}$/;

/** Whether the text may be a username; one starts with a letter, so it is never an id. */
export function isUsername(text: string): boolean {
  return USERNAME.test(text);
}

/** @throws ValidationError unless the text may be a username */
export function requireUsername(text: string): void {
  if (isUsername(text)) return;
  throw ValidationError.of('username', 'format', `username ${USERNAME_RULE}.`);
}

/** What a username must be, in words. */
export const USERNAME_RULE =
  'must be a letter and up to 63 more letters, digits or the characters . _ @ -';
