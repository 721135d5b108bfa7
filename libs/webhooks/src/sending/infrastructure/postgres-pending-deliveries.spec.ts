import { expect, it, vi } from 'vitest';
import type { Config, Database, Log } from '#libs/runtime';
import type { WebhookSecrets } from '../../subscriptions/domain/webhook-secrets.js';
import type { Outcome } from '../domain/pending-deliveries.js';
import type { DeliveryMetrics } from '../delivery-metrics.js';
import type { PendingDays } from '../pending-days.js';
import { dayOf } from '../../partitions/partition-days.js';
import { PostgresPendingDeliveries } from './postgres-pending-deliveries.js';

const [LOADED, BROKEN] = [
  '01a2026e-4c4d-77bc-8000-02138ca9fcd1',
  '01a2026e-4c4d-77bc-8000-02138ca9fcd2',
];

function pendingWith(
  run: () => Promise<object[]>,
  log: Partial<Record<keyof Log, () => void>> = {},
): PostgresPendingDeliveries {
  return new PostgresPendingDeliveries(
    { run } as unknown as Database,
    {} as WebhookSecrets,
    { leasesExpired: () => undefined } as unknown as DeliveryMetrics,
    {} as PendingDays,
    log as unknown as Log,
    { DELIVERY_TIMEOUT_MS: 15_000 } as Config,
  );
}

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
  const pending = pendingWith(() => Promise.resolve(rows), { error });
  expect(
    (await pending.claim([{ ...claim, probe: false, immediate: false }])).map(({ id }) => id),
  ).toEqual([LOADED]);
  expect(error.mock.calls).toEqual([
    [{ err: new Error('broken'), delivery: BROKEN }, 'delivery could not be loaded'],
  ]);
});

const errorOf = (code: string) => Object.assign(new Error(code), { code });

const anOutcome: Outcome = {
  ...{ id: LOADED, lease: 1, scheduleBase: 0 },
  attempt: { number: 1, at: new Date(), durationMs: 1, status: 200, truncated: false },
  conclusion: { state: 'succeeded' },
  ifRestarted: { state: 'succeeded' },
};

it('records an outcome as soon as it has a file descriptor for a connection', async () => {
  const run = vi.fn<() => Promise<object[]>>().mockResolvedValue([{ id: LOADED }]);
  run.mockRejectedValueOnce(errorOf('EMFILE'));
  await pendingWith(run).record(anOutcome);
  expect(run).toHaveBeenCalledTimes(2);
});
