import type { Model, Step } from './explorer.js';

/**
 * How two deliveries of one event go from the API through PostgreSQL and the queue to two workers. Steps have the
 * names of the statements and methods that take them. Time only says whether a lease has ended.
 */

/** A row of `deliveries`, and what the promises need to know of its past. */
interface Delivery {
  state: 'pending' | 'succeeded' | 'exhausted' | 'cancelled';
  attempts: number;
  /** The number of its last lease. */
  takes: number;
  /** Attempts before the present schedule. */
  scheduleBase: number;
  /** Whether it is to be sent outside the schedule, and how many such attempts have failed in it. */
  isExtra: boolean;
  extra: number;
  lease: 'none' | 'held' | 'expired';
  /** Whether its subscription was switched off since it was created or redelivered: its generation is outdated. */
  isOutdated: boolean;
  /** The same, whatever the row says. */
  mustEnd: boolean;
  /** The numbers of the logged attempts, as bits. */
  numbers: number;
  /** Whether the target confirmed it in the present schedule; `unrecorded` if its worker could not record that. */
  confirmed: 'no' | 'yes' | 'unrecorded';
  /** Whether a worker was frozen while it had it. */
  wasFrozen: boolean;
}

/** A delivery in a worker. */
interface Task {
  worker: number;
  delivery: number;
  at: 'job' | 'leased' | 'started' | 'calling' | 'answered';
  lease: number;
  number: number;
  scheduleBase: number;
  isExtra: boolean;
  extra: number;
  isSuccess: boolean;
  /** Whether it was recorded by a statement whose answer was lost. */
  isLogged: boolean;
  isFrozen: boolean;
}

export interface HandOver {
  isAccepted: boolean;
  /** Whether the API has committed the event and not yet added its job. */
  isAdding: boolean;
  /** Jobs of deliveries with their leases. */
  jobs: (readonly [delivery: number, lease: number])[][];
  deliveries: Delivery[];
  tasks: Task[];
  isEnabled: boolean;
  faultsLeft: number;
  actionsLeft: number;
  /** How often a worker may still have no slot for a delivery. */
  releasesLeft: number;
  breach: string | undefined;
}

/** What can be planted, by the place in the code. */
export type Planted =
  | 'RECORD without its fence'
  | 'RECORD without KEEPS_STATE'
  | 'RECORD does not count the attempt'
  | 'RECORD does not count late attempts'
  | 'RECORD counts an extra attempt in the schedule'
  | 'SEND_NOW leases a delivery that is leased'
  | 'CLAIM keeps the number of the lease'
  | 'switching off keeps the generation'
  | 'a call is made twice'
  | 'a lease does not end'
  | 'a claim is lost';

const WORKERS = [0, 1];
/** Attempts of a schedule. */
const MAX_ATTEMPTS = 2;

const NEW: Delivery = {
  state: 'pending',
  attempts: 0,
  takes: 0,
  scheduleBase: 0,
  isExtra: false,
  extra: 0,
  lease: 'none',
  isOutdated: false,
  mustEnd: false,
  numbers: 0,
  confirmed: 'no',
  wasFrozen: false,
};

/** How many deliveries there are, and how many faults and actions of the customer may happen. */
export interface Budget {
  deliveries: 1 | 2;
  faults: number;
  actions: number;
}

export function handOver(budget: Budget, planted?: Planted): Model<HandOver> {
  const has = (one: Planted): boolean => planted === one;

  /** The state with one delivery changed. */
  const withDelivery = (state: HandOver, at: number, change: Partial<Delivery>): HandOver => ({
    ...state,
    deliveries: state.deliveries.map((one, index) => (index === at ? { ...one, ...change } : one)),
  });
  /** The state with a task changed, which is then the last one. */
  const withTask = (state: HandOver, task: Task, change: Partial<Task>): HandOver => ({
    ...state,
    tasks: [...state.tasks.filter((one) => one !== task), { ...task, ...change }],
  });
  const without = (state: HandOver, task: Task): HandOver => ({
    ...state,
    tasks: state.tasks.filter((one) => one !== task),
  });
  const broken = (state: HandOver, breach: string | false): HandOver =>
    breach === false ? state : { ...state, breach };

  function* apiSteps(state: HandOver): Generator<Step<HandOver>> {
    if (!state.isAccepted) {
      const accepted = { ...state, isAccepted: true };
      const leased = { ...NEW, takes: 1, lease: 'held' as const };
      yield {
        name: 'accept',
        to: { ...accepted, isAdding: true, deliveries: state.deliveries.map(() => leased) },
      };
      yield { name: 'accept without room in the queue', to: accepted };
      return;
    }
    if (!state.isAdding) return;
    const job = state.deliveries.map((_, delivery) => [delivery, 1] as const);
    yield { name: 'add', to: { ...state, isAdding: false, jobs: [...state.jobs, job] } };
    yield { name: 'Redis refuses the job', to: endQueueLeases({ ...state, isAdding: false }) };
    if (state.faultsLeft > 0) {
      const to = { ...state, isAdding: false, faultsLeft: state.faultsLeft - 1 };
      yield { name: 'kill the API', to, isFault: true };
    }
  }

  /** `RELEASE` */
  function endQueueLeases(state: HandOver): HandOver {
    const deliveries = state.deliveries.map((one) => {
      const isOurs = one.takes === 1 && (one.state === 'pending' || one.state === 'cancelled');
      return isOurs ? { ...one, lease: 'none' as const } : one;
    });
    return { ...state, deliveries };
  }

  function* actionSteps(state: HandOver): Generator<Step<HandOver>> {
    if (!state.isAccepted || state.actionsLeft === 0) return;
    const asked = { ...state, actionsLeft: state.actionsLeft - 1 };
    if (state.isEnabled) {
      const deliveries = state.deliveries.map((one) =>
        one.state === 'pending'
          ? { ...one, isOutdated: !has('switching off keeps the generation'), mustEnd: true }
          : one,
      );
      yield { name: 'switch off', to: { ...asked, isEnabled: false, deliveries }, isFault: true };
    } else yield { name: 'switch on', to: { ...asked, isEnabled: true }, isFault: true };
    for (const [at, one] of state.deliveries.entries()) {
      if (one.state === 'pending' && !one.isOutdated) {
        const to = withDelivery(asked, at, { state: 'cancelled' });
        yield { name: `cancel ${at}`, to, isFault: true };
        if (state.isEnabled)
          yield { name: `send ${at} now`, to: sentNow(asked, at), isFault: true };
      }
      const mayRestart = one.state !== 'pending' || one.isOutdated;
      if (!state.isEnabled || !mayRestart || one.lease === 'held') continue;
      const restarted = withDelivery(asked, at, {
        state: 'pending',
        scheduleBase: one.attempts,
        isExtra: false,
        extra: 0,
        isOutdated: false,
        mustEnd: false,
        confirmed: 'no',
        lease: 'held',
        takes: one.takes + 1,
      });
      const to = { ...restarted, jobs: [...state.jobs, [[at, one.takes + 1] as const]] };
      yield { name: `redeliver ${at}`, to, isFault: true };
    }
  }

  /** `SEND_NOW` */
  function sentNow(state: HandOver, at: number): HandOver {
    const one = state.deliveries[at]!;
    if (one.lease === 'held' && !has('SEND_NOW leases a delivery that is leased')) {
      return withDelivery(state, at, { isExtra: true });
    }
    const takes = one.takes + 1;
    const leased = withDelivery(state, at, { isExtra: true, lease: 'held', takes });
    return { ...leased, jobs: [...state.jobs, [[at, takes] as const]] };
  }

  function* workerSteps(state: HandOver, worker: number): Generator<Step<HandOver>> {
    const own = state.tasks.filter((task) => task.worker === worker);
    const [job, ...others] = state.jobs;
    if (job) {
      const tasks = job.map(([delivery, lease]) => newTask(worker, delivery, lease));
      const to = { ...state, jobs: others, tasks: [...state.tasks, ...tasks] };
      yield { name: `worker ${worker} takes a job`, to };
    }
    for (const [at, one] of state.deliveries.entries()) {
      if (state.isAccepted && one.state === 'pending' && one.lease !== 'held') {
        yield { name: `worker ${worker} claims ${at}`, to: claimed(state, worker, at) };
      }
    }
    for (const task of state.faultsLeft > 0 ? own : state.tasks) yield* taskSteps(state, task);
    if (own.length === 0 || state.faultsLeft === 0) return;
    const failing = { ...state, faultsLeft: state.faultsLeft - 1 };
    yield { name: `kill worker ${worker}`, to: killed(failing, worker), isFault: true };
    yield { name: `freeze worker ${worker}`, to: frozen(failing, worker), isFault: true };
  }

  function claimed(state: HandOver, worker: number, at: number): HandOver {
    const one = state.deliveries[at]!;
    if (!state.isEnabled || one.isOutdated) {
      return withDelivery(state, at, { state: 'cancelled', lease: 'none' });
    }
    const takes = one.takes + (has('CLAIM keeps the number of the lease') ? 0 : 1);
    const leased = withDelivery(state, at, { takes, lease: 'held' });
    if (has('a claim is lost') && state.releasesLeft > 0) {
      return { ...leased, releasesLeft: state.releasesLeft - 1 };
    }
    return taken(leased, { ...newTask(worker, at, takes), at: 'leased' });
  }

  /** The worker has read the row. */
  function taken(state: HandOver, task: Task): HandOver {
    const one = state.deliveries[task.delivery]!;
    const { state: is, attempts, scheduleBase, isExtra, extra, mustEnd } = one;
    const read = { number: attempts + 1, scheduleBase, isExtra, extra };
    const leased = { ...task, at: 'leased' as const, ...read };
    const others = state.tasks.filter((one) => one !== task);
    return broken(
      { ...state, tasks: [...others, leased] },
      (is !== 'pending' || mustEnd) && 'leased after its end',
    );
  }

  function* taskSteps(state: HandOver, task: Task): Generator<Step<HandOver>> {
    const one = state.deliveries[task.delivery]!;
    const what = `${task.delivery} in worker ${task.worker}`;
    const isLeaseOf = one.takes === task.lease && one.lease === 'held';
    if (task.at === 'job') {
      const isFound = isLeaseOf && one.state === 'pending' && state.isEnabled && !one.isOutdated;
      yield { name: `load ${what}`, to: isFound ? taken(state, task) : released(state, task) };
    } else if (task.at === 'leased') {
      // A frozen worker sees by its own clock that the lease has ended.
      if (!task.isFrozen) {
        const started = withTask(state, task, { at: 'started' });
        // Only a fault can come in between.
        yield state.faultsLeft > 0
          ? { name: `start ${what}`, to: started }
          : { name: `start and send ${what}`, to: sent(started, started.tasks.at(-1)!) };
      }
      if (task.isFrozen || state.releasesLeft > 0) {
        const to = released(state, task);
        const releasesLeft = state.releasesLeft - (task.isFrozen ? 0 : 1);
        yield { name: `release ${what}`, to: { ...to, releasesLeft } };
      }
    } else if (task.at === 'started') {
      yield { name: `send ${what}`, to: sent(state, task) };
    } else if (task.at === 'calling') {
      yield { name: `the target confirms ${what}`, to: confirmed(state, task) };
      yield { name: `the target fails ${what}`, to: withTask(state, task, { at: 'answered' }) };
    } else {
      const recorded = record(state, task);
      yield { name: `record ${what}`, to: without(recorded, task) };
      if (state.faultsLeft > 0 && !task.isLogged) {
        const again = withTask(recorded, task, { isLogged: true });
        const to = { ...again, faultsLeft: state.faultsLeft - 1 };
        yield { name: `record ${what}, and lose the answer`, to, isFault: true };
      }
      if (state.faultsLeft > 0 && !task.isLogged) {
        const refused = { ...unrecorded(state, task), faultsLeft: state.faultsLeft - 1 };
        const to = released(refused, task);
        yield { name: `PostgreSQL refuses the record of ${what}`, to, isFault: true };
      }
      if (has('a call is made twice') && task.isSuccess) {
        yield { name: `send ${what} again`, to: sent(state, task) };
      }
    }
  }

  /** `RELEASE` ends the lease of an unsent delivery, unless there is another one since. */
  function released(state: HandOver, task: Task): HandOver {
    const { takes, state: is } = state.deliveries[task.delivery]!;
    const isOurs = takes === task.lease && (is === 'pending' || is === 'cancelled');
    return without(isOurs ? withDelivery(state, task.delivery, { lease: 'none' }) : state, task);
  }

  function sent(state: HandOver, task: Task): HandOver {
    const { confirmed: was } = state.deliveries[task.delivery]!;
    const isBeside = state.tasks.some(
      (other) =>
        other !== task &&
        other.delivery === task.delivery &&
        other.at === 'calling' &&
        !other.isFrozen,
    );
    const next = withTask(state, task, { at: 'calling' });
    return broken(
      next,
      // A worker that was frozen just before it sends cannot know that its lease has ended.
      !task.isFrozen &&
        (was === 'yes' ? 'a duplicate without a lost record' : isBeside && 'two calls at once'),
    );
  }

  function confirmed(state: HandOver, task: Task): HandOver {
    const { scheduleBase } = state.deliveries[task.delivery]!;
    const answered = withTask(state, task, { at: 'answered', isSuccess: true });
    if (scheduleBase !== task.scheduleBase) return answered;
    return withDelivery(answered, task.delivery, {
      confirmed: task.isFrozen ? 'unrecorded' : 'yes',
    });
  }

  /** `RECORD`, for the outcome of one attempt. */
  function record(state: HandOver, task: Task): HandOver {
    const one = state.deliveries[task.delivery]!;
    const { number, lease, isSuccess } = task;
    const isCounted = one.attempts === number && one.lease !== 'none';
    const isCurrent =
      one.takes === lease &&
      (one.attempts === number - 1 || isCounted) &&
      (one.state === 'pending' || one.state === 'cancelled');
    const isLateSuccess = isSuccess && number > one.scheduleBase && one.state !== 'succeeded';
    // Another attempt has succeeded meanwhile.
    const isOver = one.takes === lease && one.state === 'succeeded';
    const isLate =
      one.takes !== lease && !isLateSuccess && !has('RECORD does not count late attempts');
    const isRecordable = isCurrent || isLateSuccess || has('RECORD without its fence');
    // A schedule that was restarted since has its own conclusion.
    const isInSchedule = one.scheduleBase === task.scheduleBase;
    const isExtra =
      isInSchedule && task.isExtra && !has('RECORD counts an extra attempt in the schedule');
    const tries = isInSchedule ? number - one.scheduleBase - task.extra : 1;
    const failed = isExtra || tries < MAX_ATTEMPTS ? 'pending' : 'exhausted';
    const staysCancelled =
      one.state === 'cancelled' && !isSuccess && !has('RECORD without KEEPS_STATE');
    const next: Delivery = {
      ...one,
      numbers: one.numbers | (1 << number),
      ...((isLate || isOver) && { attempts: Math.max(one.attempts, number) }),
      // A late success does not end the lease of another worker, but that one's outcome does.
      ...(one.takes === lease && (isRecordable || isOver) && { lease: 'none' as const }),
      ...(isRecordable && {
        attempts: has('RECORD does not count the attempt')
          ? one.attempts
          : Math.max(one.attempts, number),
        state: staysCancelled ? one.state : isSuccess ? 'succeeded' : failed,
        isExtra: false,
        extra: one.extra + Number(isInSchedule && task.isExtra && !isSuccess && !isCounted),
      }),
    };
    return broken(withDelivery(state, task.delivery, next), breachIn(one, next, task));
  }

  /** What recording an outcome must not do. */
  function breachIn(before: Delivery, after: Delivery, task: Task): string | false {
    if (before.state === 'succeeded' && after.state !== 'succeeded') return 'success overwritten';
    if (
      before.state === 'cancelled' &&
      (after.state === 'pending' || after.state === 'exhausted')
    ) {
      return 'cancelled delivery sent again';
    }
    const tries = after.attempts - after.scheduleBase - after.extra;
    if (before.state === 'pending' && after.state === 'exhausted' && tries < MAX_ATTEMPTS) {
      return 'schedule cut short';
    }
    const isRepeated = !task.isLogged && (before.numbers & (1 << task.number)) !== 0;
    // A worker that was frozen may repeat a number.
    if (isRepeated && !before.wasFrozen) return 'number used twice';
    if (after.numbers >> (after.attempts + 1) !== 0) return 'attempts miscounted';
    return false;
  }

  /** The deliveries of a killed worker keep their leases. */
  function killed(state: HandOver, worker: number): HandOver {
    const gone = state.tasks.filter((task) => task.worker === worker);
    const left = { ...state, tasks: state.tasks.filter((task) => task.worker !== worker) };
    return gone.reduce(unrecorded, left);
  }

  function unrecorded(state: HandOver, { delivery }: Task): HandOver {
    const { confirmed: was, state: is } = state.deliveries[delivery]!;
    if (was !== 'yes' || is === 'succeeded') return state;
    return withDelivery(state, delivery, { confirmed: 'unrecorded' });
  }

  /** A worker that does not run for longer than its leases. */
  function frozen(state: HandOver, worker: number): HandOver {
    const own = state.tasks.filter((task) => task.worker === worker);
    const tasks = state.tasks.map((task) =>
      task.worker === worker ? { ...task, isFrozen: true } : task,
    );
    return own.reduce(
      (next, task) => {
        const { takes, lease } = next.deliveries[task.delivery]!;
        const isEnding = takes === task.lease && lease === 'held';
        return withDelivery(unrecorded(next, task), task.delivery, {
          wasFrozen: true,
          ...(isEnding && { lease: 'expired' as const }),
        });
      },
      { ...state, tasks },
    );
  }

  function* timeSteps(state: HandOver): Generator<Step<HandOver>> {
    if (state.jobs.length > 0 && state.faultsLeft > 0) {
      const to = { ...state, jobs: [], faultsLeft: state.faultsLeft - 1 };
      yield { name: 'Redis loses its data', to, isFault: true };
    }
    for (const [at, one] of state.deliveries.entries()) {
      const isInWorker = state.tasks.some(
        (task) => task.delivery === at && task.lease === one.takes && !task.isFrozen,
      );
      if (one.lease === 'held' && !isInWorker && !has('a lease does not end')) {
        yield {
          name: `the lease of ${at} ends`,
          to: withDelivery(state, at, { lease: 'expired' }),
        };
      }
      if (one.state === 'pending' && one.isOutdated && one.lease !== 'held') {
        const to = withDelivery(state, at, { state: 'cancelled', lease: 'none' });
        yield { name: `cancelOutdated ${at}`, to };
      }
    }
  }

  return {
    initial: {
      isAccepted: false,
      isAdding: false,
      jobs: [],
      deliveries: Array.from({ length: budget.deliveries }, () => NEW),
      tasks: [],
      isEnabled: true,
      faultsLeft: budget.faults,
      actionsLeft: budget.actions,
      releasesLeft: 1,
      breach: undefined,
    },
    steps: (state) =>
      areIndependent(state)
        ? [0, 1].map((at) => ({ name: `follow ${at}`, to: onlyOf(state, at) }))
        : [
            ...apiSteps(state),
            ...actionSteps(state),
            // Which worker has a delivery matters only to a fault.
            ...(state.faultsLeft > 0 ? WORKERS : [0]).flatMap((worker) => [
              ...workerSteps(state, worker),
            ]),
            ...timeSteps(state),
          ],
    keyOf,
    breachOf: ({ breach }) => breach,
    isEnd: ({ isAccepted, deliveries, tasks }) =>
      isAccepted &&
      tasks.length === 0 &&
      deliveries.every(({ state, lease }) => state !== 'pending' && lease !== 'held'),
  };
}

/** Only faults and actions affect both deliveries at once, and each promise is about one. */
const areIndependent = (state: HandOver): boolean =>
  state.deliveries.length > 1 &&
  state.isAccepted &&
  !state.isAdding &&
  state.faultsLeft + state.actionsLeft === 0;

function onlyOf(state: HandOver, at: number): HandOver {
  const jobs = state.jobs.map((job) => job.filter(([delivery]) => delivery === at));
  return {
    ...state,
    deliveries: [state.deliveries[at]!],
    jobs: jobs
      .filter((job) => job.length > 0)
      .map((job) => job.map(([, lease]) => [0, lease] as const)),
    tasks: state.tasks.flatMap((task) => (task.delivery === at ? [{ ...task, delivery: 0 }] : [])),
  };
}

const newTask = (worker: number, delivery: number, lease: number): Task => ({
  ...{ worker, delivery, lease, at: 'job', number: 0, scheduleBase: 0 },
  ...{ isExtra: false, extra: 0, isSuccess: false, isLogged: false, isFrozen: false },
});

const bits = (...flags: boolean[]): number =>
  flags.reduce((sum, flag, at) => sum + (flag ? 1 << at : 0), 0);

/** Objects do not change, and most are in many states. */
const deliveryKeys = new WeakMap<Delivery, string>();
const taskKeys = new WeakMap<Task, string[]>();

function deliveryKey(one: Delivery): string {
  let key = deliveryKeys.get(one);
  if (key === undefined) {
    key = [
      `${one.state[0]}${one.lease[0]}${one.confirmed[0]}`,
      ...[one.attempts, one.takes, one.scheduleBase, one.extra, one.numbers],
      bits(one.isOutdated, one.mustEnd, one.wasFrozen, one.isExtra),
    ].join();
    deliveryKeys.set(one, key);
  }
  return key;
}

/** The keys with nothing exchanged, the workers, the deliveries, and both; then without the worker. */
function taskKeysOf(task: Task): string[] {
  let keys = taskKeys.get(task);
  if (!keys) {
    const rest = [
      ...[task.at[0], task.at[1], task.lease, task.number, task.scheduleBase, task.extra],
      bits(task.isSuccess, task.isLogged, task.isFrozen, task.isExtra),
    ].join();
    keys = [0, 1, 2, 3].map(
      (way) => `${task.worker ^ (way & 1)}${task.delivery ^ (way >> 1)}${rest}`,
    );
    keys.push(...[0, 1].map((way) => `${task.delivery ^ way}${rest}`));
    taskKeys.set(task, keys);
  }
  return keys;
}

/** Workers are alike, and so are deliveries: a state is the same with each two exchanged. */
function keyOf(state: HandOver): string {
  const ways = state.faultsLeft > 0 ? [0, 1, 2, 3] : [4, 5];
  return ways
    .slice(0, ways.length / (state.deliveries.length === 1 ? 2 : 1))
    .map((way) => keyWith(state, way))
    .reduce((least, key) => (key < least ? key : least));
}

function keyWith(state: HandOver, way: number): string {
  const exchanged = way === 2 || way === 3 || way === 5 ? 1 : 0;
  const deliveries = state.deliveries.map(deliveryKey);
  if (exchanged) deliveries.reverse();
  const jobs = state.jobs.map((job) =>
    job
      .map(([delivery, lease]) => `${delivery ^ exchanged}:${lease}`)
      .sort()
      .join(),
  );
  const tasks = state.tasks.map((task) => taskKeysOf(task)[way]!).sort();
  return [
    bits(state.isAccepted, state.isAdding, state.isEnabled),
    ...[state.faultsLeft, state.actionsLeft, state.releasesLeft, state.breach],
    ...[...deliveries, jobs.join('/'), ...tasks],
  ].join('|');
}
