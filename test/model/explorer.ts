/** A step that a model may take. */
export interface Step<State> {
  name: string;
  to: State;
  /** Whether it is a fault, on which nothing may depend. */
  isFault?: boolean;
}

/** A system as states and the steps between them. */
export interface Model<State> {
  initial: State;
  steps: (state: State) => Step<State>[];
  /** A short text that is the same for states that behave the same. */
  keyOf: (state: State) => string;
  /** A broken promise. */
  breachOf: (state: State) => string | undefined;
  /** What must stay reachable from every state without a further fault. */
  isEnd: (state: State) => boolean;
}

export interface Exploration {
  states: number;
  /** The first broken promise, with the shortest way to it. */
  breach?: { rule: string; steps: string[] };
}

/** Follows every order of steps, breadth first. */
export function explore<State>(model: Model<State>): Exploration {
  const ids = new Map<string, number>();
  const ways: { from: number; step: string }[] = [];
  /** The states from which each one is reached without a fault. */
  const sources: number[][] = [];
  const ends: number[] = [];
  let frontier: [number, State][] = [];

  const wayTo = (id: number): string[] => {
    const steps: string[] = [];
    for (let at = id; at > 0; at = ways[at]!.from) steps.unshift(ways[at]!.step);
    return steps;
  };
  const enter = (state: State, from: number, step: string): number => {
    const key = model.keyOf(state);
    const known = ids.get(key);
    if (known !== undefined) return known;
    const id = ids.size;
    ids.set(key, id);
    ways.push({ from, step });
    sources.push([]);
    if (model.isEnd(state)) ends.push(id);
    frontier.push([id, state]);
    return id;
  };

  enter(model.initial, 0, '');
  while (frontier.length > 0) {
    const layer = frontier;
    frontier = [];
    for (const [id, state] of layer) {
      const rule = model.breachOf(state);
      if (rule !== undefined) return { states: ids.size, breach: { rule, steps: wayTo(id) } };
      for (const { name, to, isFault } of model.steps(state)) {
        const next = enter(to, id, name);
        if (!isFault) sources[next]!.push(id);
      }
    }
  }
  const stuck = firstThatNeverEnds(sources, ends);
  if (stuck === undefined) return { states: ids.size };
  return { states: ids.size, breach: { rule: 'never ends', steps: wayTo(stuck) } };
}

function firstThatNeverEnds(
  sources: readonly (readonly number[])[],
  ends: readonly number[],
): number | undefined {
  const canEnd = new Uint8Array(sources.length);
  const open = [...ends];
  for (const id of ends) canEnd[id] = 1;
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const source of sources[id]!) {
      if (canEnd[source] === 1) continue;
      canEnd[source] = 1;
      open.push(source);
    }
  }
  const stuck = canEnd.indexOf(0);
  return stuck < 0 ? undefined : stuck;
}
