import { migrationOf } from '#libs/runtime';

/** Lists an account's deliveries in order. Writing to deliveries waits while it is built. */
export const deliveriesOfAccount = migrationOf(
  'DeliveriesOfAccount1763790000001',
  'CREATE INDEX deliveries_account_idx ON deliveries (account_id, id)',
);
