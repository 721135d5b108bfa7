import { describe, expect, it } from 'vitest';
import {
  dryRunText,
  leftOutSentence,
  offerText,
  progressText,
  SEND_LABELS,
  selectedText,
  sendHint,
  sendsOf,
  sendText,
  shortSendText,
} from './sending.js';

it.each([
  [{ state: 'exhausted' }, 'Send again', 'Send 2 deliveries again', 'Send 2 again'],
  [{ state: 'cancelled' }, 'Send again', 'Send 2 deliveries again', 'Send 2 again'],
  [{ state: 'succeeded' }, 'Send again', 'Send 2 deliveries again', 'Send 2 again'],
  [{ state: 'pending' }, 'Send now', 'Send 2 deliveries now', 'Send 2 now'],
  [{}, 'Send undelivered', 'Send 2 deliveries', 'Send 2'],
  [{ missedBy: '7' }, 'Send missed events', 'Send 2 missed events', 'Send 2'],
])('sends finished deliveries again and waiting ones now: %j', (values, label, text, short) => {
  const sends = sendsOf(values);
  expect(SEND_LABELS[sends]).toBe(label);
  expect([sendText(2, sends), shortSendText(2, sends)]).toEqual([text, short]);
});

it.each([
  [['exhausted', 'succeeded'], 'Send 2 selected again'],
  [['pending', 'parked'], 'Send 2 selected now'],
  [['pending', 'cancelled', 'exhausted'], 'Send 2 again and 1 now'],
] as const)('names what happens to the selected: %j', (states, text) => {
  expect(selectedText(states)).toBe(text);
});

describe('a dry run and its progress', () => {
  const none = { now: 0, waiting: {} };
  const paused = { now: 1, waiting: { paused: 2 } };

  it.each([
    [{ deliveries: 0, ...none }, 'There is nothing to send.'],
    [{ deliveries: 1, now: 1, waiting: {} }, '1 delivery: 1 goes now.'],
    [{ deliveries: 3, now: 3, waiting: {} }, '3 deliveries: all 3 go now.'],
    [{ deliveries: 3, ...paused }, '3 deliveries: 1 goes now, 2 wait for a paused subscription.'],
  ])('%j counts the deliveries that go now and those that wait', (count, text) => {
    expect(dryRunText(count, 'again')).toBe(text);
  });

  it('are told on an offer, too', () => {
    expect(offerText({ deliveries: 3, ...paused }, 'missed')).toBe(
      'Send 3 missed events: 1 goes now, 2 wait for a paused subscription',
    );
  });

  it('says which are left out, and why', () => {
    expect(leftOutSentence({ leftOutFor: {} })).toBeUndefined();
    expect(leftOutSentence({ leftOutFor: { off: 1, test: 2 } })).toBe(
      'Left out: 1 for a disabled subscription, 2 tests.',
    );
  });

  it.each([
    [
      { state: 'running', replayed: 0, ...paused },
      'It is running. 1 goes now, 2 wait for a paused subscription.',
    ],
    [
      { state: 'completed', replayed: 3, ...paused },
      'It is complete. 1 goes now, 2 wait for a paused subscription.',
    ],
    [{ state: 'completed', replayed: 3, ...none }, 'It is complete. All are finished.'],
    [{ state: 'completed', replayed: 2, ...none }, 'It is complete. 1 could no longer be sent.'],
    [
      { state: 'completed', replayed: 2, ...none, leftOutFor: { off: 1 } },
      'It is complete. 1 could no longer be sent. Left out: 1 for a disabled subscription.',
    ],
    [
      { state: 'cancelled', replayed: 1, now: 1, waiting: {} },
      'It was cancelled. What had started is still sent. 1 goes now.',
    ],
  ] as const)('%j counts the same way', (replay, text) => {
    expect(progressText({ total: 3, leftOutFor: {}, ...replay })).toBe(text);
  });
});

describe('the hint beside the button of one delivery', () => {
  const NOW = Date.parse('2026-11-25T14:00:00.000Z');
  const open = { state: 'open', until: '2026-11-25T14:02:00.000Z' } as const;

  it.each([
    ['parked', { enabled: true, paused: true }, /^“Send now” tries it at once anyway/],
    ['exhausted', { enabled: true, paused: true }, /waits until you resume/],
    ['exhausted', { enabled: true, health: open }, /waits for the next try/],
    ['succeeded', { enabled: false }, /enable its subscription first/],
  ] as const)('%s, with %j', (state, target, text) => {
    expect(sendHint({ state }, target, NOW)).toMatch(text);
  });

  it.each([
    ['exhausted', { enabled: true }],
    ['exhausted', { enabled: true, health: { ...open, until: '2026-11-25T13:00:00.000Z' } }],
    ['exhausted', undefined],
    ['pending', { enabled: true }],
  ] as const)('is absent if it just goes: %s, with %j', (state, target) => {
    expect(sendHint({ state }, target, NOW)).toBeUndefined();
  });
});
