import { randomBytes } from 'node:crypto';
import { codePoints, isStorable, ValidationError } from '#libs/kernel';

export const PASSWORD_MIN = 8;
export const PASSWORD_MAX = 200;

/** Whether the text has a valid length for a password. */
export function hasPasswordLength(text: string): boolean {
  const length = codePoints(text);
  return length >= PASSWORD_MIN && length <= PASSWORD_MAX;
}

/** @throws ValidationError unless the text is a valid password */
export function requirePassword(text: string): void {
  if (!hasPasswordLength(text)) {
    const says = `must have ${PASSWORD_MIN} to ${PASSWORD_MAX} characters`;
    throw ValidationError.of('password', 'length', `password ${says}.`);
  }
  if (!isStorable(text)) {
    const says = 'must not contain U+0000 or lone surrogates';
    throw ValidationError.of('password', 'format', `password ${says}.`);
  }
}

/** 144 bits in 24 characters that need no quoting anywhere. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url');
}
