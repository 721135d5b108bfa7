import { expect, it } from 'vitest';
import { isMissingPartition } from './database-errors.js';

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
