import { describe, expect, it } from 'vitest';
import { ANSWERING, judge, type Observation, type Reachability } from './own-outage.js';

const answer: Observation = { kind: 'answer' };
const time: Observation = { kind: 'time' };
const failure = (host: string, hadAnswered = true): Observation => ({
  ...{ kind: 'failure', host, hadAnswered },
});

/** What is said of each observation: `theirs`, or `ours of undecided` with what becomes of the undecided ones. */
function judged(...seen: [at: number, observation: Observation][]): string[] {
  let reachability: Reachability = ANSWERING;
  return seen.map(([at, observation]) => {
    const judgement = judge(reachability, observation, at);
    ({ reachability } = judgement);
    const { fault = '-', undecided } = judgement;
    return undecided ? `${fault}, undecided ${undecided}` : fault;
  });
}

describe('whose fault it is', () => {
  it.each<[what: string, seen: [number, Observation][], faults: string[]]>([
    [
      'one dead host is theirs at once, however often it fails',
      [1, 2, 3, 4, 5, 6].map((at) => [at, failure('a')]),
      ['theirs', 'theirs', 'theirs', 'theirs', 'theirs', 'theirs'],
    ],
    [
      'the fifth of five hosts makes it ours, with the two before it',
      ['a', 'b', 'c', 'd', 'e'].map((host, at) => [at, failure(host)]),
      ['theirs', 'theirs', 'undecided', 'undecided', 'ours, undecided ours'],
    ],
    [
      'a host that fails again is not another one',
      [
        [1, failure('a')],
        [2, failure('b')],
        [3, failure('c')],
        [4, failure('a')],
        [5, failure('c')],
        [6, failure('d')],
        [7, failure('e')],
      ],
      [
        'theirs',
        'theirs',
        'undecided',
        'undecided',
        'undecided',
        'undecided',
        'ours, undecided ours',
      ],
    ],
    [
      'an answer of any host makes the undecided ones theirs',
      [
        [1, failure('a')],
        [2, failure('b')],
        [3, failure('c')],
        [4, failure('d')],
        [5, answer],
        [6, failure('e')],
        [7, failure('f')],
      ],
      [
        'theirs',
        'theirs',
        'undecided',
        'undecided',
        '-, undecided theirs',
        ...['theirs', 'theirs'],
      ],
    ],
    [
      'a third of the targets that fail while others answer are theirs',
      Array.from({ length: 12 }, (_, at) => [at, at % 3 === 0 ? failure(`dead-${at}`) : answer]),
      Array.from({ length: 12 }, (_, at) => (at % 3 === 0 ? 'theirs' : '-, undecided theirs')),
    ],
    [
      'hosts that never answered are theirs and prove nothing',
      ['a', 'b', 'c', 'd', 'e', 'f'].map((host, at) => [at, failure(host, false)]),
      ['theirs', 'theirs', 'theirs', 'theirs', 'theirs', 'theirs'],
    ],
    [
      'ten seconds without a fifth make the undecided ones theirs',
      [
        [0, failure('a')],
        [1, failure('b')],
        [2, failure('c')],
        [9_999, time],
        [10_000, time],
        [10_001, failure('d')],
      ],
      ['theirs', 'theirs', 'undecided', '-', '-, undecided theirs', 'theirs'],
    ],
    [
      'a fifth that comes too late begins anew',
      [
        [0, failure('a')],
        [1, failure('b')],
        [2, failure('c')],
        [3, failure('d')],
        [10_003, failure('e')],
        [10_004, failure('f')],
        [10_005, failure('g')],
      ],
      [
        'theirs',
        'theirs',
        'undecided',
        'undecided',
        'theirs, undecided theirs',
        'theirs',
        'undecided',
      ],
    ],
    [
      'during an outage every failure is ours, until an answer ends it',
      [
        ...['a', 'b', 'c', 'd', 'e'].map((host, at): [number, Observation] => [at, failure(host)]),
        [60_000, failure('f', false)],
        [60_001, failure('a')],
        [60_002, time],
        [60_003, answer],
        [60_004, failure('a')],
      ],
      [
        ...['theirs', 'theirs', 'undecided', 'undecided', 'ours, undecided ours'],
        ...['ours', 'ours', '-', '-, undecided theirs', 'theirs'],
      ],
    ],
  ])('%s', (_, seen, faults) => {
    expect(judged(...seen)).toEqual(faults);
  });
});
