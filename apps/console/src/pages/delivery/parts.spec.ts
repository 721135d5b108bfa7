import { expect, it } from 'vitest';
import { partsOf } from './parts.js';

it('shows each phase as a share of the attempt including the body, and no share for the wait before it', () => {
  const phases = { queued: 5_000, dns: 10, connect: 20, firstByte: 50, body: 20 };
  expect(partsOf({ durationMs: 80, phases })).toEqual([
    { label: 'Wait to be sent', ms: 5_000 },
    { label: 'DNS lookup', ms: 10, share: 0.1 },
    { label: 'Connect', ms: 20, share: 0.2 },
    { label: 'Wait for the answer', ms: 50, share: 0.5 },
    { label: 'Read the answer', ms: 20, share: 0.2 },
  ]);
});

it('shows that an attempt timed out while it waited for the answer', () => {
  expect(partsOf({ durationMs: 1_000, phases: { connect: 10 }, error: 'timeout' })).toEqual([
    { label: 'Connect', ms: 10, share: 0.01 },
    { label: 'Wait for the answer', ms: 990, share: 0.99 },
  ]);
});

it('names no phase if opening a connection was not recorded', () => {
  expect(partsOf({ durationMs: 15_000, phases: {}, error: 'timeout' })).toEqual([
    { label: 'Not finished', ms: 15_000, share: 1 },
  ]);
});

it('shows nothing if no phases were recorded', () => {
  expect(partsOf({ durationMs: 10 })).toEqual([]);
});
