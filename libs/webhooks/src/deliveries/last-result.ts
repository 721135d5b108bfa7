import { string } from '#libs/kernel';
import { ATTEMPT_ERRORS } from './domain/delivery.js';

const NAMES: readonly string[] = [...ATTEMPT_ERRORS, 'failed'];

/** A filter by the result of the last attempt. */
export const RESULT = string().and(
  'choice',
  `must be a status such as 404, a class such as 5xx, or one of ${NAMES.join(', ')}`,
  (text) => /^[1-5](?:\d\d|xx)$/.test(text) || NAMES.includes(text),
  { pattern: `^(?:[1-5](?:[0-9][0-9]|xx)|${NAMES.join('|')})$` },
);
