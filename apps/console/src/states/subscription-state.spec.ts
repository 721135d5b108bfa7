import { describe, expect, it } from 'vitest';
import { conditionsOf, type Known } from './subscription-state.js';

const NOW = Date.parse('2026-11-25T14:00:00.000Z');
const SINCE = '2026-11-25T13:00:00.000Z';
const LATER = '2026-11-25T14:02:00.000Z';
const DISABLES = '2026-11-30T13:00:00.000Z';

const ok = { enabled: true, health: { state: 'ok' } } as const;
const open = { state: 'open', since: SINCE, until: LATER, disablesAt: DISABLES } as const;

const words = (known: Known, heldUntil?: string, now = NOW) =>
  conditionsOf(known, heldUntil, now).map(({ word }) => word);

describe('a subscription that is on', () => {
  it('is healthy', () => {
    const [only, ...others] = conditionsOf(ok, undefined, NOW);
    expect([only.tone, only.word, others]).toEqual(['good', 'healthy', []]);
  });

  it('is untested before its first success, if that is known', () => {
    const activity = { succeeded: 0, failed: 0 };
    expect(words({ ...ok, activity })).toEqual(['untested']);
    expect(words({ ...ok, activity: { ...activity, lastSuccessAt: SINCE } })).toEqual(['healthy']);
    expect(words({ ...ok, paused: true, activity })).toEqual(['paused']);
  });

  it('is losing notifications, whatever its last attempt was', () => {
    const lost = { lost: 15, lastLostAt: SINCE };
    const losing = { enabled: true, health: { state: 'losing', ...lost } } as const;
    const [only, ...others] = conditionsOf(losing, undefined, NOW);
    expect(only).toMatchObject({ tone: 'bad', word: 'losing', needsAttention: true });
    expect([only.since?.at, others]).toEqual([SINCE, []]);
    expect(only.reason).toMatch(/^15 notifications/);
    const { health } = losing;
    expect(words({ enabled: true, health: { ...health, since: SINCE } })).toEqual([
      'losing',
      'failing',
    ]);
    expect(words({ enabled: true, health: { ...open, ...lost } })).toEqual(['failing', 'losing']);
  });

  it('is failing, and goes on', () => {
    const [only] = conditionsOf(
      { enabled: true, health: { state: 'failing', since: SINCE } },
      undefined,
      NOW,
    );
    expect(only).toMatchObject({ tone: 'bad', word: 'failing', since: { at: SINCE } });
    expect(only.next.at).toBeUndefined();
  });

  it('is paused until it is resumed', () => {
    const [only] = conditionsOf({ ...ok, paused: true }, undefined, NOW);
    expect(only).toMatchObject({
      word: 'paused',
      next: { text: expect.stringMatching(/resume/) as string },
    });
  });
});

describe('a pace', () => {
  it.each([
    ['maxPerSecond', /allows per second/],
    ['maxConcurrent', /allows at once/],
    ['ordered', /in order/],
  ] as const)('that delays notifications by %s is told', (pacedBy, reason) => {
    const [only] = conditionsOf(
      { enabled: true, health: { state: 'ok', pacedBy } },
      undefined,
      NOW,
    );
    expect([only.word, only.api]).toEqual(['paced', `health.pacedBy: ${pacedBy}`]);
    expect(only.reason).toMatch(reason);
  });

  it('is told after a failure', () => {
    const health = { state: 'failing', pacedBy: 'ordered' } as const;
    expect(words({ enabled: true, health })).toEqual(['failing', 'paced']);
  });
});

describe('an open circuit', () => {
  it('tells the time of the next try, and of being disabled', () => {
    const [only] = conditionsOf({ enabled: true, health: open }, undefined, NOW);
    expect(only).toMatchObject({
      word: 'failing',
      needsAttention: true,
      since: { at: SINCE },
      next: { at: LATER },
      disables: { at: DISABLES },
    });
  });

  it('sends a probe when its time has passed', () => {
    const [only] = conditionsOf({ enabled: true, health: open }, undefined, Date.parse(LATER));
    expect(only.next.text).toBe('The next due notification is sent as a probe.');
  });

  it('lasts beyond a pause, and sends nothing before the pause ends', () => {
    const paused = { enabled: true, paused: true, health: open };
    expect(words(paused)).toEqual(['failing', 'paused']);
    expect(conditionsOf(paused, undefined, NOW)[0].next.text).toMatch(/when you resume it/);
  });
});

describe('a hold', () => {
  const failing = { enabled: true, health: { state: 'failing', since: SINCE } } as const;

  it('ends by itself', () => {
    const [, second] = conditionsOf(failing, LATER, NOW);
    expect(second).toMatchObject({ word: 'held', next: { at: LATER } });
    expect(words(failing, LATER)).toEqual(['failing', 'held']);
    expect(words(failing, LATER, Date.parse(LATER))).toEqual(['failing']);
  });

  it('is not shown if a pause or an open circuit may be the cause', () => {
    expect(words({ ...ok, paused: true }, LATER)).toEqual(['paused']);
    expect(words({ enabled: true, health: open }, LATER)).toEqual(['failing']);
  });
});

describe('a subscription that is disabled', () => {
  it.each(['gone', 'failing'] as const)('by the service needs attention: %s', (disabledReason) => {
    const [only] = conditionsOf(
      { enabled: false, disabledReason, disabledAt: SINCE },
      undefined,
      NOW,
    );
    expect(only).toMatchObject({
      word: 'disabled',
      api: `enabled: false, disabledReason: ${disabledReason}`,
      needsAttention: true,
      since: { at: SINCE },
    });
  });

  it('by the customer needs none, even while paused', () => {
    const [only, ...others] = conditionsOf({ enabled: false, paused: true }, LATER, NOW);
    expect([only.word, only.needsAttention, others]).toEqual(['disabled', false, []]);
    expect(only.since).toBeUndefined();
  });
});
