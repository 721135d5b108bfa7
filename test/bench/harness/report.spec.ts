import { expect, it } from 'vitest';
import { resultOf, tableOf } from './report.js';

it('leaves details out of the table', () => {
  const row = { values: [1], unit: 'ms' };
  const shown = resultOf('rates', { ...row, what: 'p50' });
  const detail = resultOf('rates', { ...row, what: 'by part', isDetail: true });
  expect(tableOf([shown, detail])).toContain('p50');
  expect(tableOf([shown, detail])).not.toContain('by part');
});
