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

/** `limit` and `after` of a list that is returned whole if no limit is given. */
export const OPTIONAL_PAGE: Parameters = {
  limit: { about: 'The size of the page; without it, the whole list.', schema: limit({}) },
  after: {
    about: 'Returns the entries after this id, in ascending order; must be an id, up to 2^63-1.',
    schema: numericId('', '5080983'),
  },
};

/** `limit` and `after` of a list with the newest entry first. */
export const NEWEST_PAGE: Parameters = {
  limit: { about: 'The maximum number of entries.', schema: limit({ default: DEFAULT_LIMIT }) },
  after: { about: 'Returns entries older than the one with this id.', schema: uuid('') },
};

/** `since` and `until` of a list. */
export const TIMES: Parameters = {
  since: { about: `Created at this time or later; ${TIME_RULE}.`, schema: time('') },
  until: { about: `Created before this time; ${TIME_RULE}.`, schema: time('') },
};
