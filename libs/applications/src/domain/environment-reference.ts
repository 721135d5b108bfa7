import { isStorable } from '#libs/kernel';

/** A path, or a URL with its scheme and host before that; a trailing slash does not count. */
const ADDRESS =
  /^(?:[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/\s?#]+)?(?:\/[^\s?#]*)?\/v1\/environments\/(\d+)\/?$/;
const NUMBER = /^\d+$/;

/**
 * The id that a reference to an environment names: a number, or an absolute URL or path that ends
 * in `/v1/environments/<id>`, whatever its host and prefix. Undefined when it is none of these.
 */
export function environmentIdOf(reference: unknown): string | undefined {
  if (typeof reference === 'number') {
    // Beyond 2^53 the digits that were sent are lost.
    return Number.isSafeInteger(reference) && reference >= 0 ? String(reference) : undefined;
  }
  if (typeof reference !== 'string' || !isStorable(reference)) return undefined;
  return NUMBER.test(reference) ? reference : ADDRESS.exec(reference)?.[1];
}
