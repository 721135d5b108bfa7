import { computed, schema, viewOf } from '#libs/http';
import type { AccountLoad } from '../accounts.js';

export const AccountLoadView = viewOf<AccountLoad>()('AccountLoad', {
  accountId: computed(schema.accountNumber('The account.'), ({ id }) => Number(id)),
  user: computed(schema.href('The address of its user.', 'users/83346'), ({ id }, href) =>
    href('users', id),
  ),
  reported: schema.integer('How many events were accepted for it.', 1_204),
  delivered: schema.integer('How many attempts succeeded.', 1_198),
  failed: schema.integer('How many attempts failed.', 17),
  waiting: schema.integer(
    'Its unfinished deliveries now; at most 10,000 of each subscription and day are counted.',
    12,
  ),
  share: {
    type: 'number',
    description: 'Its share of the time that workers spent in calls, from 0 to 1.',
    minimum: 0,
    maximum: 1,
    examples: [0.031],
  },
});
