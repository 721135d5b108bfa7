import { among, fault, type FilterRule, type Part } from '#libs/http';
import { ATTEMPT_ERRORS } from '../domain/delivery.js';

const NAMES = [...ATTEMPT_ERRORS, 'failed'];

/** A filter by the result of the last attempt. */
export const RESULT: FilterRule = {
  accepts: (text) => /^[1-5](?:\d\d|xx)$/.test(text) || among(NAMES).accepts(text),
  code: 'choice',
  says: `must be a status such as 404, a class such as 5xx, or one of ${NAMES.join(', ')}`,
};

/** The same filter in a body. */
export const RESULT_PART: Part = {
  schema: {
    type: 'string',
    pattern: `^(?:[1-5](?:[0-9][0-9]|xx)|${NAMES.join('|')})$`,
  },
  faultsOf: (value, at) => {
    if (typeof value !== 'string') return [fault(at, 'type', 'must be a string')];
    return RESULT.accepts(value) ? [] : [fault(at, RESULT.code, RESULT.says)];
  },
};
