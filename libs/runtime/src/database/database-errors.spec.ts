import { expect, it } from 'vitest';
import { isAway, isMissingPartition, isRowError, isTransient } from './database-errors.js';

it.each([
  [
    'by PostgreSQL, in any language',
    { code: '23514', message: 'keine Partition', routine: 'ExecFindPartition' },
  ],
  [
    'by the coordinator of a Citus cluster',
    {
      message: 'no partition of relation "events_102017" found for row',
      code: 'XX000',
      routine: 'ReportCopyError',
    },
  ],
])('knows a missing partition that is reported %s', (_by, error) => {
  expect(isMissingPartition(error)).toBe(true);
});

it.each([
  [
    'another check',
    { code: '23514', message: 'violates check constraint', routine: 'ExecConstraints' },
  ],
  ['another error', { code: 'XX000', message: 'corrupt', routine: 'ExecFindPartition' }],
])('takes %s for no missing partition', (_what, error) => {
  expect(isMissingPartition(error)).toBe(false);
});

it.each([
  'failure on connection marked as essential: 10.0.0.2:5432',
  'postmaster was shut down, exiting',
])(
  'takes the loss of a node of a Citus cluster for an outage, not for a bad row: %s',
  (message) => {
    const error = Object.assign(new Error(message), { code: 'XX000' });
    expect([isAway(error), isRowError(error)]).toEqual([true, false]);
  },
);

it('repeats a statement whose interim result Citus lost, as when a schema moves', () => {
  expect(isTransient({ code: 'CIINF' })).toBe(true);
});
