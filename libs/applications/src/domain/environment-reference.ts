import { INTEGER_TOO, isStorable, isStringOrNumber, typed } from '#libs/kernel';

/** A path, or a URL with scheme and host; a trailing slash is ignored. */
const ADDRESS =
  /^(?:[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/\s?#]+)?(?:\/[^\s?#]*)?\/v1\/environments\/(\d+)\/?$/;
const NUMBER = /^\d+$/;

/**
 * The id in a reference to an environment: a number, or an absolute URL or path that ends in
 * `/v1/environments/<id>`, with any host and prefix. Undefined for any other text.
 */
export function environmentIdOf(reference: unknown): string | undefined {
  if (typeof reference === 'number') {
    // Beyond 2^53, parsing has lost digits.
    return Number.isSafeInteger(reference) && reference >= 0 ? String(reference) : undefined;
  }
  if (typeof reference !== 'string' || !isStorable(reference)) return undefined;
  return NUMBER.test(reference) ? reference : ADDRESS.exec(reference)?.[1];
}

/** A reference to an environment in a request. */
export const environmentReference = typed('must be a number or a string', isStringOrNumber, {
  type: 'string',
}).and(
  'format',
  'must be the address or the id of an environment',
  (value) => environmentIdOf(value) !== undefined,
  { description: INTEGER_TOO, pattern: '^(?:[0-9]+|\\S*/v1/environments/[0-9]+/?)$' },
);
