import { expect, it, vi } from 'vitest';
import type { Config, Database, Log } from '#libs/runtime';
import type { WebhookSecrets } from '../../subscriptions/domain/webhook-secrets.js';
import type { DeliveryMetrics } from './delivery-metrics.js';
import type { PendingDays } from './pending-days.js';
import { dayOf } from '../../partitions/partition-days.js';
import { PostgresPendingDeliveries } from './postgres-pending-deliveries.js';

const [LOADED, BROKEN] = [
  '01a2026e-4c4d-77bc-8000-02138ca9fcd1',
  '01a2026e-4c4d-77bc-8000-02138ca9fcd2',
];

it('leases the other deliveries of a statement when one of them cannot be loaded', async () => {
  const rows = [
    {
      id: BROKEN,
      event: 'smsdlr',
      get leaseMs(): never {
        throw new Error('broken');
      },
    },
    { id: LOADED, event: 'smsdlr', leaseMs: 30_000 },
  ];
  const claim = {
    webhookId: '1',
    accountId: '1',
    day: dayOf(LOADED),
    most: 2,
    dueForMs: 0,
    pace: null,
  };
  const error = vi.fn();
  const pending = new PostgresPendingDeliveries(
    { run: () => Promise.resolve(rows) } as unknown as Database,
    {} as WebhookSecrets,
    { leasesExpired: () => undefined } as unknown as DeliveryMetrics,
    {} as PendingDays,
    { error } as unknown as Log,
    { DELIVERY_TIMEOUT_MS: 15_000 } as Config,
  );
  expect(
    (await pending.claim([{ ...claim, probe: false, immediate: false }])).map(({ id }) => id),
  ).toEqual([LOADED]);
  expect(error.mock.calls).toEqual([
    [{ err: new Error('broken'), delivery: BROKEN }, 'delivery could not be loaded'],
  ]);
});
