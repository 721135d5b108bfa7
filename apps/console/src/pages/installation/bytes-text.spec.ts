import { expect, it } from 'vitest';
import { bytesText } from './bytes-text.js';

it.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [8_192, '8.2 kB'],
  [1_000_000, '1.0 MB'],
  [1_500_000_000, '1.5 GB'],
  [176_400_000, '176 MB'],
  [2e15, '2000 TB'],
])('writes %d bytes as "%s"', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});
