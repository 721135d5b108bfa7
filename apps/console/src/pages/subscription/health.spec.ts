import { describe, expect, it } from 'vitest';
import { conditionsOf, type Known } from './health.js';

const NOW = Date.parse('2026-11-25T14:00:00.000Z');
const SINCE = '2026-11-25T13:00:00.000Z';
const LATER = '2026-11-25T14:02:00.000Z';
const DISABLES = '2026-11-30T13:00:00.000Z';

const ok = { enabled: true, health: { state: 'ok' } } as const;
const open = { state: 'open', since: SINCE, until: LATER, disablesAt: DISABLES } as const;

const words = (known: Known, heldUntil?: string, now = NOW) =>
  conditionsOf(known, heldUntil, now).map(({ word }) => word);

describe('a subscription that is on', () => {
  it('is well', () => {
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
    expect(only.sentence).toMatch(/^15 notifications/);
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
    ['maxPerSecond', /allows in a second/],
    ['maxConcurrent', /allows at once/],
    ['ordered', /in order/],
  ] as const)('that delays notifications by %s is told', (pacedBy, sentence) => {
    const [only] = conditionsOf(
      { enabled: true, health: { state: 'ok', pacedBy } },
      undefined,
      NOW,
    );
    expect(only.word).toBe('paced');
    expect(only.sentence).toMatch(sentence);
  });

  it('is told after a failure', () => {
    const health = { state: 'failing', pacedBy: 'ordered' } as const;
    expect(words({ enabled: true, health })).toEqual(['failing', 'paced']);
  });
});

describe('an open circuit', () => {
  it('tells the time of the next try, and of switching off', () => {
    const [only] = conditionsOf({ enabled: true, health: open }, undefined, NOW);
    expect(only).toMatchObject({
      word: 'failing',
      needsAttention: true,
      since: { at: SINCE },
      next: { at: LATER },
      warning: { at: DISABLES },
    });
  });

  it('waits for the next notification when its time has passed', () => {
    const [only] = conditionsOf({ enabled: true, health: open }, undefined, Date.parse(LATER));
    expect(only.next).toEqual({ text: 'Next try with the next notification' });
  });

  it('lasts beyond a pause, and sends nothing before the pause ends', () => {
    const paused = { enabled: true, paused: true, health: open };
    expect(words(paused)).toEqual(['paused', 'failing']);
    expect(conditionsOf(paused, undefined, NOW)[1]?.next).toEqual({
      text: 'Next try after you resume it',
    });
  });
});

describe('a hold', () => {
  const failing = { enabled: true, health: { state: 'failing', since: SINCE } } as const;

  it('ends by itself', () => {
    const [first] = conditionsOf(failing, LATER, NOW);
    expect(first).toMatchObject({ word: 'held', next: { at: LATER } });
    expect(words(failing, LATER)).toEqual(['held', 'failing']);
    expect(words(failing, LATER, Date.parse(LATER))).toEqual(['failing']);
  });

  it('is not shown if a pause or an open circuit may be the cause', () => {
    expect(words({ ...ok, paused: true }, LATER)).toEqual(['paused']);
    expect(words({ enabled: true, health: open }, LATER)).toEqual(['failing']);
  });
});

describe('a subscription that is off', () => {
  it.each([
    ['gone', /410/],
    ['failing', /five days/],
  ] as const)('was switched off by the service: %s', (disabledReason, why) => {
    const [only] = conditionsOf(
      { enabled: false, disabledReason, disabledAt: SINCE },
      undefined,
      NOW,
    );
    expect(only).toMatchObject({
      tone: 'neutral',
      word: 'off',
      needsAttention: true,
      sentence: expect.stringMatching(why) as string,
      since: { at: SINCE },
    });
  });

  it('was switched off by the customer, even while paused', () => {
    const [only, ...others] = conditionsOf({ enabled: false, paused: true }, LATER, NOW);
    expect([only.word, only.needsAttention, others]).toEqual(['off', false, []]);
    expect(only.since).toBeUndefined();
  });
});
