import { ValidationError } from '#libs/kernel';

/** What the end of a credential must be, in words. */
export const EXPIRY_RULE = 'must be in the future';

/** Whether a credential may end then. */
export function isExpiry(time: Date): boolean {
  return time.getTime() > Date.now();
}

/** Whether a credential has ended. */
export function isExpired({ expiresAt }: { expiresAt: Date | null }): boolean {
  return expiresAt !== null && !isExpiry(expiresAt);
}

/** @throws ValidationError unless a credential may end then */
export function requireExpiry(time: Date): void {
  if (isExpiry(time)) return;
  throw ValidationError.of('expiresAt', 'range', `expiresAt ${EXPIRY_RULE}.`);
}
