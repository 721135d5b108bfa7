import { DEFAULT_LIMIT, MAX_LIMIT, TIME_RULE } from '../query.js';
import type { Parameters } from './describe.js';
import { numericId, type Schema, time, uuid } from './schema.js';

const limit = (rules: Schema): Schema => ({
  type: 'integer',
  minimum: 1,
  maximum: MAX_LIMIT,
  examples: [2],
  ...rules,
});

/** `limit` and `after` of a list that is answered whole when no limit is given. */
export const OPTIONAL_PAGE: Parameters = {
  limit: { about: 'Answers a page of so many; without it, all.', schema: limit({}) },
  after: {
    about: 'Answers what comes after this id, in ascending order; must be an id, up to 2^63-1.',
    schema: numericId('', '5080983'),
  },
};

/** `limit` and `after` of a list that is newest first. */
export const NEWEST_PAGE: Parameters = {
  limit: { about: 'Answers so many at the most.', schema: limit({ default: DEFAULT_LIMIT }) },
  after: { about: 'Answers what is older than the one with this id.', schema: uuid('') },
};

/** `since` and `until` of a list. */
export const TIMES: Parameters = {
  since: { about: `Made at that time or later; ${TIME_RULE}.`, schema: time('') },
  until: { about: `Made before that time; ${TIME_RULE}.`, schema: time('') },
};
