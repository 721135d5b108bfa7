import { computed, schema, viewOf } from '#libs/http';
import type { AccountLoad } from '../accounts.js';

export const AccountLoadView = viewOf<AccountLoad>()('AccountLoad', {
  accountId: computed(schema.accountNumber("The account's id."), ({ id }) => Number(id)),
  user: computed(schema.href("The URL of the account's user.", 'users/83346'), ({ id }, href) =>
    href('users', id),
  ),
  reported: schema.integer('The number of accepted events.', 1_204),
  delivered: schema.integer('The number of successful attempts.', 1_198),
  failed: schema.integer('The number of failed attempts.', 17),
  waiting: schema.integer(
    'The current number of unfinished deliveries; at most 10,000 of each subscription and day are counted.',
    12,
  ),
  share: {
    type: 'number',
    description: "The account's share of the time that workers spent on attempts, from 0 to 1.",
    minimum: 0,
    maximum: 1,
    examples: [0.031],
  },
});
