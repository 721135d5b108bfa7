import type { Model, Step } from './explorer.js';

/**
 * How two workers claim the deliveries of an ordered subscription from PostgreSQL, send and record them. Steps have the
 * names of the statements and methods that take them. Time only says whether a lease has ended and a retry is due.
 */

/** A row of `deliveries`, in the order of acceptance. */
interface Delivery {
  state: 'pending' | 'succeeded' | 'exhausted' | 'cancelled';
  attempts: number;
  takes: number;
  lease: 'none' | 'held' | 'expired';
  /** Whether `not_before` is still to come. */
  waits: boolean;
  /** Whether it was redelivered, which may be after a later one was claimed. */
  isRestarted: boolean;
}

/** A delivery in a worker; `recorded` once only its place is left to free, because the subscription was locked. */
interface Task {
  worker: number;
  delivery: number;
  lease: number;
  at: 'leased' | 'calling' | 'answered' | 'recorded';
  isSuccess: boolean;
  isFrozen: boolean;
}

export interface InOrder {
  deliveries: Delivery[];
  /** `in_flight`: the leases that have a place and have not ended, as `delivery lease`. */
  places: string[];
  tasks: Task[];
  faultsLeft: number;
  actionsLeft: number;
  /** How often a worker may still have no slot for a delivery. */
  releasesLeft: number;
  breach: string | undefined;
}

/** What can be planted, by the place in the code. */
export type Planted =
  | 'CLAIM_PACED ignores the places'
  | 'placeOf without the number of the lease'
  | 'RECORD_PLACE frees no place'
  | 'RECORD_PLACE moves a retry to its time';

const WORKERS = [0, 1];
const MAX_ATTEMPTS = 2;

const NEW: Delivery = {
  ...{ state: 'pending', attempts: 0, takes: 0, lease: 'none' },
  ...{ waits: false, isRestarted: false },
};

export function inOrder(
  budget: { deliveries: number; faults: number; actions: number; releases?: number },
  planted?: Planted,
): Model<InOrder> {
  const has = (one: Planted): boolean => planted === one;
  const placeOf = (delivery: number, lease: number): string =>
    has('placeOf without the number of the lease') ? `${delivery}` : `${delivery} ${lease}`;

  const withDelivery = (state: InOrder, at: number, change: Partial<Delivery>): InOrder => ({
    ...state,
    deliveries: state.deliveries.map((one, index) => (index === at ? { ...one, ...change } : one)),
  });
  const withTask = (state: InOrder, task: Task, change: Partial<Task>): InOrder => ({
    ...state,
    tasks: state.tasks.map((one) => (one === task ? { ...one, ...change } : one)),
  });
  const without = (state: InOrder, task: Task): InOrder => ({
    ...state,
    tasks: state.tasks.filter((one) => one !== task),
  });
  const freed = (state: InOrder, { delivery, lease }: Task): InOrder => ({
    ...state,
    places: state.places.filter((place) => place !== placeOf(delivery, lease)),
  });
  const broken = (state: InOrder, breach: string | false): InOrder =>
    breach === false ? state : { ...state, breach };
  const isPending = ({ state }: Delivery): boolean => state === 'pending';
  const isClaimable = (one: Delivery): boolean =>
    isPending(one) && one.lease !== 'held' && !one.waits;

  function* claimSteps(state: InOrder, worker: number): Generator<Step<InOrder>> {
    if (state.places.length > 0 && !has('CLAIM_PACED ignores the places')) return;
    const isMoved = (one: Delivery) => has('RECORD_PLACE moves a retry to its time') && one.waits;
    const at = state.deliveries.findIndex((one) => isPending(one) && !isMoved(one));
    const first = state.deliveries[at];
    if (!first || !isClaimable(first)) return;
    const lease = first.takes + 1;
    const leased = withDelivery(state, at, { takes: lease, lease: 'held' });
    const task: Task = {
      ...{ worker, delivery: at, lease, at: 'leased' },
      ...{ isSuccess: false, isFrozen: false },
    };
    const to = {
      ...leased,
      places: [...state.places, placeOf(at, lease)],
      tasks: [...state.tasks, task],
    };
    yield {
      name: `worker ${worker} claims ${at}`,
      to: broken(
        to,
        state.deliveries.slice(0, at).some(isPending) && 'claimed before an earlier one',
      ),
    };
  }

  function* taskSteps(state: InOrder, task: Task): Generator<Step<InOrder>> {
    const what = `${task.delivery} in worker ${task.worker}`;
    if (task.at === 'leased') {
      yield { name: `send ${what}`, to: sent(state, task) };
      if (state.releasesLeft > 0) {
        const to = { ...released(state, task), releasesLeft: state.releasesLeft - 1 };
        yield { name: `release ${what}`, to };
      }
    } else if (task.at === 'calling') {
      yield {
        name: `the target confirms ${what}`,
        to: withTask(state, task, { at: 'answered', isSuccess: true }),
      };
      yield { name: `the target fails ${what}`, to: withTask(state, task, { at: 'answered' }) };
    } else if (task.at === 'answered') {
      const recorded = record(state, task);
      const isFreed = !has('RECORD_PLACE frees no place');
      yield {
        name: `record ${what}`,
        to: without(isFreed ? freed(recorded, task) : recorded, task),
      };
      yield {
        name: `record ${what} while the subscription is locked`,
        to: withTask(recorded, task, { at: 'recorded' }),
      };
    } else {
      yield { name: `free the place of ${what}`, to: without(freed(state, task), task) };
    }
  }

  function sent(state: InOrder, task: Task): InOrder {
    const isBeside = state.tasks.some(
      (other) => other !== task && other.at === 'calling' && !other.isFrozen,
    );
    const isEarly = state.deliveries
      .slice(0, task.delivery)
      .some((one) => isPending(one) && !one.isRestarted);
    return broken(
      withTask(state, task, { at: 'calling' }),
      // A worker that was frozen just before it sends cannot know that its lease has ended.
      !task.isFrozen && (isBeside ? 'two calls at once' : isEarly && 'sent before an earlier one'),
    );
  }

  /** `RELEASE_PLACE`. */
  function released(state: InOrder, task: Task): InOrder {
    const isOurs = state.deliveries[task.delivery]!.takes === task.lease;
    const ended = isOurs ? withDelivery(state, task.delivery, { lease: 'none' }) : state;
    return without(freed(ended, task), task);
  }

  /** The delivery in `RECORD_PLACE`. */
  function record(state: InOrder, { delivery, lease, isSuccess }: Task): InOrder {
    const one = state.deliveries[delivery]!;
    const isOurs = one.takes === lease;
    if (!isOurs && !isSuccess) return state;
    const attempts = one.attempts + 1;
    const failed = attempts < MAX_ATTEMPTS ? 'pending' : 'exhausted';
    const isCancelled = one.state === 'cancelled' && !isSuccess;
    const next = isCancelled ? one.state : isSuccess ? 'succeeded' : failed;
    return withDelivery(state, delivery, {
      attempts,
      state: next,
      waits: next === 'pending',
      ...(isOurs && { lease: 'none' as const }),
    });
  }

  function* actionSteps(state: InOrder): Generator<Step<InOrder>> {
    if (state.actionsLeft === 0) return;
    const asked = { ...state, actionsLeft: state.actionsLeft - 1 };
    for (const [at, one] of state.deliveries.entries()) {
      if (isPending(one)) {
        const to = withDelivery(asked, at, { state: 'cancelled' });
        yield { name: `cancel ${at}`, to, isFault: true };
      } else if (one.lease !== 'held') {
        const restarted = { ...NEW, takes: one.takes, isRestarted: true };
        yield { name: `redeliver ${at}`, to: withDelivery(asked, at, restarted), isFault: true };
      }
    }
  }

  function* faultSteps(state: InOrder, worker: number): Generator<Step<InOrder>> {
    const own = state.tasks.filter((task) => task.worker === worker);
    if (own.length === 0 || state.faultsLeft === 0) return;
    const failing = { ...state, faultsLeft: state.faultsLeft - 1 };
    const left = failing.tasks.filter((task) => task.worker !== worker);
    yield { name: `kill worker ${worker}`, to: { ...failing, tasks: left }, isFault: true };
    const frozen = own.map((task) => ({ ...task, isFrozen: true }));
    const to = { ...failing, tasks: [...left, ...frozen] };
    yield { name: `freeze worker ${worker}`, to, isFault: true };
  }

  function* timeSteps(state: InOrder): Generator<Step<InOrder>> {
    for (const [at, one] of state.deliveries.entries()) {
      if (one.waits) yield { name: `${at} is due`, to: withDelivery(state, at, { waits: false }) };
      // A call never outlasts its lease, and a worker that runs records or releases in time.
      const isInWorker = state.tasks.some(
        (task) => task.delivery === at && task.lease === one.takes && !task.isFrozen,
      );
      const place = placeOf(at, one.takes);
      if (isInWorker || (one.lease !== 'held' && !state.places.includes(place))) continue;
      const ended = one.lease === 'held' ? withDelivery(state, at, { lease: 'expired' }) : state;
      const places = has('RECORD_PLACE frees no place')
        ? state.places
        : state.places.filter((each) => each !== place);
      yield { name: `the lease of ${at} ends`, to: { ...ended, places } };
    }
  }

  return {
    initial: {
      deliveries: Array.from({ length: budget.deliveries }, () => NEW),
      ...{ places: [], tasks: [], breach: undefined },
      faultsLeft: budget.faults,
      actionsLeft: budget.actions,
      releasesLeft: budget.releases ?? 1,
    },
    steps: (state) => [
      ...WORKERS.flatMap((worker) => [...claimSteps(state, worker), ...faultSteps(state, worker)]),
      ...state.tasks.flatMap((task) => [...taskSteps(state, task)]),
      ...actionSteps(state),
      ...timeSteps(state),
    ],
    keyOf,
    breachOf: ({ breach }) => breach,
    isEnd: ({ deliveries, tasks, places }) =>
      tasks.length === 0 && places.length === 0 && !deliveries.some(isPending),
  };
}

/** Workers are alike: a state is the same with the two exchanged. */
function keyOf(state: InOrder): string {
  const [one, other] = [keyWith(state, 0), keyWith(state, 1)];
  return one < other ? one : other;
}

function keyWith({ deliveries, places, tasks, ...rest }: InOrder, exchanged: number): string {
  const ofDeliveries = deliveries.map(
    ({ state, attempts, takes, lease, waits, isRestarted }) =>
      `${state[0]}${attempts}${takes}${lease[0]}${Number(waits)}${Number(isRestarted)}`,
  );
  const ofTasks = tasks.map(
    ({ worker, delivery, lease, at, isSuccess, isFrozen }) =>
      `${worker ^ exchanged}${delivery}${lease}${at[0]}${Number(isSuccess)}${Number(isFrozen)}`,
  );
  return [
    ...[rest.faultsLeft, rest.actionsLeft, rest.releasesLeft, rest.breach],
    ...[...ofDeliveries, places.toSorted().join('/'), ...ofTasks.sort()],
  ].join('|');
}
