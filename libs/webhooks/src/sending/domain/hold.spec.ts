import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Hold } from './hold.js';

const HOSTS = ['a', 'b', 'c', 'd', 'e'];
let heard: string[];
let hold: Hold;
beforeEach(() => {
  vi.useFakeTimers();
  heard = [];
  hold = new Hold((cause) => heard.push(cause ? `began: ${cause}` : 'ended'));
});
afterEach(() => {
  vi.useRealTimers();
});

const fail = (host: string, hadSucceeded = false, waitsUntil = performance.now() + 60_000) =>
  Promise.resolve(hold.unanswered({ host, hadSucceeded, waitsUntil }));
const answerOf = (hosts: readonly string[]) => hosts.forEach((host) => hold.answered(host));

describe('a hold', () => {
  it('begins when five hosts that had answered fail one after the other, which books two', async () => {
    answerOf(HOSTS);
    const sides = HOSTS.map((host) => fail(host));
    expect(hold.isOn).toBe(true);
    expect(await Promise.all(sides)).toEqual(['theirs', 'theirs', 'ours', 'ours', 'ours']);
    expect(heard).toEqual(['began: unreachable']);
  });

  it('begins in a worker that has had no answer yet if the subscriptions had succeeded', async () => {
    for (const host of HOSTS) void fail(host);
    expect(hold.isOn).toBe(false);
    for (const host of HOSTS) void fail(host, true);
    expect([hold.isOn, hold.hasAnswered]).toEqual([true, false]);
    hold.answered('z');
    expect([hold.isOn, hold.hasAnswered]).toEqual([false, true]);
    for (const host of HOSTS) void fail(host, true);
    expect(hold.isOn).toBe(false);
    expect(await fail('f', true)).toBe('theirs');
  });

  it('begins with faults of our own, whose name is its cause', () => {
    for (const host of HOSTS) hold.failedOnOurSide(host, 'proxy');
    expect(heard).toEqual(['began: proxy']);
  });

  it('does not begin because of the retries of hosts that are dead', () => {
    answerOf([...HOSTS, 'alive']);
    for (const host of HOSTS) {
      void fail(host);
      hold.answered('alive');
    }
    for (const host of HOSTS) void fail(host);
    expect(hold.isOn).toBe(false);
  });

  it('ends with the first answer', () => {
    answerOf(HOSTS);
    for (const host of HOSTS) void fail(host);
    hold.answered('a');
    expect(hold.isOn).toBe(false);
    expect(heard).toEqual(['began: unreachable', 'ended']);
  });
});

describe('a call that is undecided', () => {
  it.each<[what: string, then: () => unknown, side: string]>([
    ['is theirs when any host answers', () => hold.answered('z'), 'theirs'],
    ['is theirs ten seconds after the first', () => vi.advanceTimersByTime(10_002), 'theirs'],
    ['is ours with the fifth', () => [fail('d'), fail('e')], 'ours'],
  ])('%s', async (_, then, side) => {
    answerOf(HOSTS);
    const [, , third] = ['a', 'b', 'c'].map((host) => fail(host));
    then();
    expect(await third).toBe(side);
  });

  it('is ours when its lease ends first, so that it is sent again', async () => {
    answerOf(HOSTS);
    const [, , third] = ['a', 'b', 'c'].map((host) => fail(host, false, performance.now() + 2_000));
    vi.advanceTimersByTime(2_000);
    expect(await third).toBe('ours');
  });
});

describe('during a hold', () => {
  beforeEach(() => {
    answerOf(HOSTS);
    for (const host of HOSTS) void fail(host);
  });

  it('sends one notification a second, each to another host', () => {
    const sent: string[] = [];
    const inTurns = ['a', 'a', 'b', 'c'];
    for (let ms = 0; ms < 6_000; ms += 50) {
      if (hold.admits()) {
        const host = inTurns.shift()!;
        inTurns.push(host);
        if (hold.allows(host)) sent.push(`${host} at ${ms}`);
      }
      vi.advanceTimersByTime(50);
    }
    expect(sent).toEqual(['a at 0', 'b at 1100', 'c at 2100', 'a at 5100']);
  });

  it('lets slots be given as often as one may be tried, and to all at its end', () => {
    const mayAdmit = vi.fn();
    hold.whileOn(mayAdmit);
    vi.advanceTimersByTime(1_000);
    expect(mayAdmit).toHaveBeenCalledTimes(10);
    hold.answered('a');
    expect(mayAdmit).toHaveBeenCalledTimes(11);
    vi.advanceTimersByTime(1_000);
    expect(mayAdmit).toHaveBeenCalledTimes(11);
  });
});
