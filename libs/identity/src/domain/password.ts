import { randomBytes } from 'node:crypto';
import { requireValid, storableText } from '#libs/kernel';

export const PASSWORD_MIN = 8;
export const PASSWORD_MAX = 200;

/** A password that somebody chose. */
export const passwordPart = storableText(PASSWORD_MAX, PASSWORD_MIN);

/** @throws ValidationError unless the text is a valid password */
export function requirePassword(text: string): void {
  requireValid('password', text, passwordPart);
}

/** 144 bits in 24 characters that need no quoting anywhere. */
export function generatePassword(): string {
  return randomBytes(18).toString('base64url');
}
