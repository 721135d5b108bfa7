import { describe, expect, it } from 'vitest';
import { forOperator, type Target, verdictOf as verdictAt } from './delivery-verdict.js';

const answered = (status: number) => ({ status, durationMs: 45 });
const failed = (error: 'timeout' | 'refused' | 'dns' | 'tls') => ({ error, durationMs: 10 });
const NOW = Date.parse('2026-11-25T13:00:00.000Z');
const AT = '2026-11-25T14:02:00.000Z';

const verdictOf = (
  delivery: Parameters<typeof verdictAt>[0],
  attempts: Parameters<typeof verdictAt>[1],
  target?: Target,
  now = NOW,
) => verdictAt(delivery, attempts, target, now);

describe('a delivery that succeeded', () => {
  it('was accepted at the first attempt', () => {
    const verdict = verdictOf({ state: 'succeeded', attempts: 1 }, [answered(204)]);
    expect(verdict).toEqual({
      tone: 'good',
      sentence: 'Your server accepted this notification with 204 in 45 ms, at the first attempt.',
    });
  });

  it('lists the failures before a success', () => {
    const attempts = [answered(500), answered(500), failed('timeout'), answered(200)];
    expect(verdictOf({ state: 'succeeded', attempts: 4 }, attempts)).toEqual({
      tone: 'good',
      sentence: 'Your server accepted this notification with 200 in 45 ms, at attempt 4.',
      advice: 'Before that, it answered 500 twice, then did not answer in time.',
    });
  });
});

describe('a delivery that is pending', () => {
  it('has not been sent yet', () => {
    expect(verdictOf({ state: 'pending', attempts: 0, nextAttemptAt: AT }, [])).toEqual({
      tone: 'waiting',
      sentence: 'This notification has not been sent yet.',
      next: { text: 'First try', at: AT },
    });
  });

  it('is retried, and counts equal failures', () => {
    const attempts = [500, 500, 500, 500].map(answered);
    expect(verdictOf({ state: 'pending', attempts: 4, nextAttemptAt: AT }, attempts)).toEqual({
      tone: 'waiting',
      sentence: 'Your server answered 500 four times.',
      advice: 'Check the logs of your server at the time of the attempt.',
      next: { text: 'Next try', at: AT },
    });
  });

  it('waits for a pace only once it is due', () => {
    const paced = { enabled: true, health: { state: 'ok', pacedBy: 'maxPerSecond' } } as const;
    const nextAt = (now: number) =>
      verdictOf({ state: 'pending', attempts: 1, nextAttemptAt: AT }, [], paced, now).next;
    expect(nextAt(Date.parse(AT))?.text).toBe('The others follow at its pace.');
    expect(nextAt(NOW)).toEqual({ text: 'Next try', at: AT });
    const { next } = verdictOf({ state: 'pending', attempts: 0 }, [], paced);
    expect(next).toEqual({ text: 'An attempt is on its way.' });
  });

  it.each([
    [0, 'First try is due now.'],
    [1, 'Next try is due now.'],
  ])('is due after %d attempts', (attempts, text) => {
    const due = { state: 'pending', attempts, nextAttemptAt: AT } as const;
    expect(verdictOf(due, [], undefined, Date.parse(AT)).next).toEqual({ text });
  });

  it('is being sent', () => {
    const { next } = verdictOf({ state: 'pending', attempts: 1 }, [failed('refused')]);
    expect(next).toEqual({ text: 'An attempt is on its way.' });
  });

  it('is sent again after a success, on request', () => {
    const { tone, advice } = verdictOf({ state: 'pending', attempts: 1 }, [answered(200)]);
    expect([tone, advice]).toEqual(['waiting', 'It is being sent again.']);
  });
});

describe('a delivery that is parked', () => {
  const parked = { state: 'parked', attempts: 1 } as const;
  const later = '2026-11-25T15:00:00.000Z';
  const paused = { enabled: true, paused: true };
  const open = { enabled: true, health: { state: 'open' as const, until: AT } };
  const held = { enabled: true, health: { state: 'failing' as const } };

  it.each([
    [paused, undefined, /subscription is paused/, /when you resume it/],
    [held, later, /asked for a break/, /^Sending resumes$/],
    [open, later, /^Your server keeps failing/, /^Next try$/],
    [undefined, later, /^Your server keeps failing or asked/, /^Next try$/],
    [
      undefined,
      undefined,
      /^The subscription is paused, or your server/,
      /when its subscription is ready/,
    ],
  ])('of the subscription %j, with the next attempt at %s, says what it waits for', (...known) => {
    const [target, nextAttemptAt, why, words] = known;
    const delivery = { ...parked, ...(nextAttemptAt !== undefined && { nextAttemptAt }) };
    const { sentence, advice = '', next } = verdictOf(delivery, [answered(503)], target);
    expect(sentence).toBe('Your server answered 503.');
    expect(advice).toMatch(why);
    expect(next?.text).toMatch(words);
    expect(next?.at).toBe(nextAttemptAt);
  });

  it('is retried after both its circuit and its own next attempt', () => {
    const earlier = '2026-11-25T14:00:00.000Z';
    const { next } = verdictOf({ ...parked, nextAttemptAt: earlier }, [answered(500)], open);
    expect(next?.at).toBe(AT);
  });

  it('says that it was never sent, and why', () => {
    expect(verdictOf({ ...parked, attempts: 0, nextAttemptAt: AT }, [], open)).toEqual({
      tone: 'waiting',
      sentence: 'This notification has not been sent yet.',
      advice: 'Your server keeps failing, so notifications wait until it works again.',
      next: { text: 'Next try', at: AT },
    });
  });

  it('adds advice to the state of its subscription', () => {
    const { advice } = verdictOf(parked, [answered(404)], { ...open, paused: true });
    expect(advice).toBe('The subscription is paused. Check the path of the target address.');
  });
});

describe('a delivery that ended without success', () => {
  it('had no attempts left', () => {
    const attempts = [failed('dns'), failed('dns')];
    expect(
      verdictOf({ state: 'exhausted', reason: 'no_attempts_left', attempts: 2 }, attempts),
    ).toEqual({
      tone: 'bad',
      sentence: 'Your server could not be found in DNS, twice.',
      advice: 'Check the host name of the target address, and its DNS records.',
      next: { text: 'There are no attempts left.' },
    });
  });

  it.each([
    [{ attempts: 1, test: true }, /^A test is tried once/],
    [{ attempts: 2, test: true }, /^There are no attempts left/],
    [{ attempts: 1, test: false }, /^There are no attempts left/],
  ])('counts unless it is a test: %j', (known, words) => {
    const delivery = { state: 'exhausted', reason: 'no_attempts_left', ...known } as const;
    expect(verdictOf(delivery, [answered(500)]).next?.text).toMatch(words);
  });

  it('was answered with 410, which is mentioned once', () => {
    const { sentence, advice, next } = verdictOf(
      { state: 'exhausted', reason: 'gone', attempts: 1 },
      [answered(410)],
    );
    expect(sentence.match(/410/g)).toHaveLength(1);
    expect([advice, next]).toEqual([undefined, { text: 'Nothing more is sent.' }]);
  });

  it.each([
    ['exhausted', 'failing', 'five days'],
    ['exhausted', 'expired', 'the end of its retention'],
    ['cancelled', 'disabled', 'the subscription was disabled'],
    ['cancelled', 'deleted', 'the subscription was deleted'],
    ['cancelled', 'requested', 'on request'],
  ] as const)('is %s for the reason %s', (state, reason, words) => {
    const verdict = verdictOf({ state, reason, attempts: 0 }, []);
    expect(verdict.sentence).toContain(words);
    expect(verdict.tone).toBe(state === 'exhausted' ? 'bad' : 'neutral');
    const after = verdictOf({ state, reason, attempts: 1 }, [answered(404)]);
    expect(after.sentence).toBe('Your server answered 404.');
    expect(after.next?.text).toContain(words);
    expect(after.advice === undefined).toBe(state === 'cancelled');
  });
});

describe('the history', () => {
  it('shortens many different outcomes', () => {
    const attempts = [500, 501, 502, 503, 504, 505].map(answered);
    expect(verdictOf({ state: 'pending', attempts: 6 }, attempts).sentence).toBe(
      'Your server answered 500, then failed in other ways, then answered 504, then answered 505.',
    );
  });

  it('tells the number of attempts if only some are known', () => {
    const attempts = Array.from({ length: 100 }, () => answered(500));
    expect(verdictOf({ state: 'pending', attempts: 130 }, attempts).sentence).toBe(
      'Your server answered 500 100 times (the newest 100 of 130 attempts).',
    );
  });
});

it.each([
  [answered(302), 'Redirects are not followed'],
  [answered(401), 'authentication'],
  [answered(404), 'path'],
  [answered(422), 'refused this body'],
  [failed('timeout'), 'Answer with 2xx first'],
  [failed('tls'), 'certificate'],
  [{ ...failed('tls'), detail: 'expired' as const }, 'Renew the certificate'],
  [{ ...failed('tls'), detail: 'client_certificate' as const }, 'verify the signature'],
  [{ ...failed('tls'), detail: 'other' as const }, 'certificate'],
  [{ ...failed('refused'), detail: 'proxy' as const }, 'proxy'],
])('advises after %j', (attempt, words) => {
  expect(verdictOf({ state: 'pending', attempts: 1 }, [attempt]).advice).toContain(words);
});

it('addresses an operator, who does not own the server', () => {
  const verdict = verdictOf({ state: 'pending', attempts: 1, nextAttemptAt: AT }, [answered(500)]);
  expect(forOperator(verdict)).toEqual({
    tone: 'waiting',
    sentence: 'The server answered 500.',
    advice: 'Check the logs of the server at the time of the attempt.',
    next: { text: 'Next try', at: AT },
  });
  expect(forOperator(verdictOf({ state: 'succeeded', attempts: 1 }, [answered(200)]))).toEqual({
    tone: 'good',
    sentence: 'The server accepted this notification with 200 in 45 ms, at the first attempt.',
  });
});

it('is told to operators as what happened to the server of a customer', () => {
  const paused = { enabled: true, paused: true };
  const { next } = forOperator(verdictOf({ state: 'parked', attempts: 0 }, [], paused));
  expect(next?.text).toBe('Sending resumes, oldest first, when it is resumed.');
  const unknown = verdictOf({ state: 'parked', attempts: 0 }, [], undefined);
  expect(forOperator(unknown).advice).toBe(
    'The subscription is paused, or the server keeps failing or asked for a break.',
  );
});
