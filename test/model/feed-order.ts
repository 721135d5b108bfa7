import type { Model, Step } from './explorer.js';

/**
 * How events of concurrent transactions appear in the feed. Writers accept one event each (`feed_time`), and readers
 * follow cursors (`PostgresFeedHorizon`, `readFeed`). The clock of PostgreSQL goes on, and may be set back. Steps are what
 * no other transaction can interrupt.
 */

/** A transaction that accepts an event, or one that has. */
interface Writer {
  at: 'idle' | 'begun' | 'locked' | 'timed' | 'committed' | 'unlocked';
  /** The time of its lock. */
  begun: number;
  /** The time of its event. */
  time: number;
}

/** A follower: what it has got, and how far its look has come. */
interface Reader {
  at: 'idle' | 'raised' | 'looked';
  raised: number;
  horizon: number;
  /** The greatest horizon that it was given. */
  cursor: number;
  /** The writers whose events it has got. */
  got: number[];
}

export interface FeedOrder {
  clock: number;
  /** `feed_clock`. */
  feedClock: number;
  setbacksLeft: number;
  writers: Writer[];
  readers: Reader[];
}

/** What can be planted, by the place in the code. */
export type Planted =
  | 'feed_time takes the lock after the time'
  | 'feed_time ignores feed_clock'
  | 'the horizon is read before the clock is raised'
  | 'the lock ends before the commit';

const MAX_TIME = 3;

export function feedOrder(
  budget: { writers: number; readers: number; setbacks: number },
  planted?: Planted,
): Model<FeedOrder> {
  const has = (one: Planted): boolean => planted === one;

  const withWriter = (state: FeedOrder, index: number, change: Partial<Writer>): FeedOrder => ({
    ...state,
    writers: state.writers.map((one, at) => (at === index ? { ...one, ...change } : one)),
  });
  const withReader = (state: FeedOrder, index: number, change: Partial<Reader>): FeedOrder => ({
    ...state,
    readers: state.readers.map((one, at) => (at === index ? { ...one, ...change } : one)),
  });

  /** The time that `raise_feed_clock` returns. */
  const raisedAt = ({ clock, feedClock }: FeedOrder): number =>
    clock > feedClock ? clock : Math.min(feedClock + 1, MAX_TIME);

  /** The time that `feed_time` returns. */
  const timeAt = (state: FeedOrder, begun: number): number =>
    has('feed_time ignores feed_clock') ? begun : Math.max(begun, state.feedClock);

  function* writerSteps(state: FeedOrder, index: number): Generator<Step<FeedOrder>> {
    const writer = state.writers[index]!;
    const step = (name: string, change: Partial<Writer>): Step<FeedOrder> => ({
      name: `writer ${index} ${name}`,
      to: withWriter(state, index, change),
    });
    const { begun } = writer;
    const isLate = has('feed_time takes the lock after the time');
    switch (writer.at) {
      case 'idle':
        yield step('begins', { at: 'begun', begun: state.clock });
        break;
      case 'begun':
        yield isLate
          ? step('takes its time', { at: 'locked', time: timeAt(state, begun) })
          : step('takes its lock', { at: 'locked' });
        break;
      case 'locked':
        yield isLate
          ? step('takes its lock', { at: 'timed' })
          : step('takes its time', { at: 'timed', time: timeAt(state, begun) });
        break;
      case 'timed':
        yield has('the lock ends before the commit')
          ? step('unlocks', { at: 'unlocked' })
          : step('commits', { at: 'committed' });
        break;
      case 'committed':
        if (!has('the lock ends before the commit')) yield step('unlocks', { at: 'unlocked' });
        break;
      case 'unlocked':
        if (has('the lock ends before the commit')) yield step('commits', { at: 'committed' });
        break;
    }
  }

  const isLocked = ({ at }: Writer): boolean => {
    const isLate = has('feed_time takes the lock after the time');
    if (at === 'locked') return !isLate;
    return at === 'timed' || (at === 'committed' && !has('the lock ends before the commit'));
  };
  const isVisible = ({ at }: Writer): boolean =>
    at === 'committed' || (at === 'unlocked' && !has('the lock ends before the commit'));

  function* readerSteps(state: FeedOrder, index: number): Generator<Step<FeedOrder>> {
    const reader = state.readers[index]!;
    const locks = state.writers.filter(isLocked).map(({ begun }) => begun);
    const isEarly = has('the horizon is read before the clock is raised');
    if (reader.at === 'idle') {
      const raised = raisedAt(state);
      yield {
        name: `reader ${index} ${isEarly ? 'looks at the locks' : 'raises the clock'}`,
        to: isEarly
          ? withReader(state, index, { at: 'raised', raised: Math.min(...locks, MAX_TIME + 1) })
          : withReader({ ...state, feedClock: raised }, index, { at: 'raised', raised }),
      };
    } else if (reader.at === 'raised') {
      const raised = isEarly ? raisedAt(state) : reader.raised;
      const least = isEarly ? reader.raised : Math.min(...locks, MAX_TIME + 1);
      const horizon = Math.min(raised, least);
      yield {
        name: `reader ${index} ${isEarly ? 'raises the clock' : 'looks at the locks'}`,
        to: withReader(isEarly ? { ...state, feedClock: raised } : state, index, {
          at: 'looked',
          raised: 0,
          horizon,
        }),
      };
    } else {
      const { horizon, cursor } = reader;
      const found = state.writers.flatMap((writer, at) =>
        isVisible(writer) && writer.time >= cursor && writer.time < horizon ? [at] : [],
      );
      const to = withReader(state, index, {
        ...{ at: 'idle', horizon: 0, cursor: Math.max(cursor, horizon) },
        got: [...reader.got, ...found],
      });
      yield { name: `reader ${index} reads up to ${horizon}`, to };
    }
  }

  function* clockSteps(state: FeedOrder): Generator<Step<FeedOrder>> {
    const { clock, setbacksLeft } = state;
    if (clock < MAX_TIME) yield { name: 'time goes on', to: { ...state, clock: clock + 1 } };
    if (clock > 0 && setbacksLeft > 0) {
      const to = { ...state, clock: clock - 1, setbacksLeft: setbacksLeft - 1 };
      yield { name: 'the clock is set back', to, isFault: true };
    }
  }

  return {
    initial: {
      ...{ clock: 0, feedClock: 0, setbacksLeft: budget.setbacks },
      writers: Array.from({ length: budget.writers }, () => ({ at: 'idle', begun: 0, time: 0 })),
      readers: Array.from({ length: budget.readers }, () => ({
        ...{ at: 'idle', raised: 0, horizon: 0, cursor: 0, got: [] },
      })),
    },
    steps: (state) => [
      ...state.writers.flatMap((_, index) => [...writerSteps(state, index)]),
      ...state.readers.flatMap((_, index) => [...readerSteps(state, index)]),
      ...clockSteps(state),
    ],
    keyOf,
    breachOf: ({ writers, readers }) => {
      const isMissed = readers.some(({ cursor, got }) =>
        writers.some(
          (writer, index) => isVisible(writer) && writer.time < cursor && !got.includes(index),
        ),
      );
      if (isMissed) return 'an event appeared behind a cursor';
      const isRepeated = readers.some(({ got }) => new Set(got).size < got.length);
      return isRepeated ? 'a follower got an event twice' : undefined;
    },
    isEnd: ({ clock, writers }) =>
      clock === MAX_TIME && writers.every((writer) => isVisible(writer) && !isLocked(writer)),
  };
}

/** Writers are alike: a state is the same with two of them exchanged. */
function keyOf({ clock, feedClock, setbacksLeft, writers, readers }: FeedOrder): string {
  const ofWriters = writers.map(({ at, begun, time }, index) => {
    const got = readers.map((reader) => reader.got.filter((one) => one === index).length);
    return `${at.slice(0, 2)}${begun}${time}${got.join('')}`;
  });
  const ofReaders = readers.map(
    ({ at, raised, horizon, cursor }) => `${at[0]!}${raised}${horizon}${cursor}`,
  );
  return [clock, feedClock, setbacksLeft, ...ofWriters.sort(), ...ofReaders].join();
}
