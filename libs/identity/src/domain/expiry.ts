import { parseTime, time, ValidationError } from '#libs/kernel';

const EXPIRY_RULE = 'must be in the future';

/** Whether a credential may expire at this time. */
export function isExpiry(time: Date): boolean {
  return time.getTime() > Date.now();
}

/** Whether a credential has expired. */
export function isExpired({ expiresAt }: { expiresAt: Date | null }): boolean {
  return expiresAt !== null && !isExpiry(expiresAt);
}

/** @throws ValidationError unless a credential may expire at this time */
export function requireExpiry(time: Date): void {
  if (isExpiry(time)) return;
  throw ValidationError.of('expiresAt', 'range', `expiresAt ${EXPIRY_RULE}.`);
}

/** When a credential expires, in a request. */
export const expiryPart = time().and('range', EXPIRY_RULE, (value) => isExpiry(parseTime(value)!));
