import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;

/** No token is longer. A longer text is not even hashed. */
export const TOKEN_LENGTH = Math.ceil((TOKEN_BYTES * 4) / 3);

/** A secret that stands for a login: of a session's cookie, or of a link. Only its {@link hashOf} is stored. */
export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** SHA-256 of a token, in Base64. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64');
}
