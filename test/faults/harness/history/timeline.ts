import type { Action, Delivery, Expectations, History, Span } from './history.js';
import { RECORDING_MS, type Sending } from './sendings.js';

/** A request that may have restarted a finished delivery. `send` may have sent it at once instead. */
export interface Restart extends Span {
  kind: 'redeliver' | 'replay' | 'send';
  /** The states from which it may restart a delivery. */
  states: readonly string[];
}

/** The known history of one delivery, and the actions of customers on it. */
export interface Timeline {
  delivery: Delivery;
  /** In the order of their leases. */
  sendings: readonly Sending[];
  restarts: readonly Restart[];
  /** Requests to cancel it, or to switch its subscription off after it was created. */
  cancels: readonly (Action & { kind: 'cancel' | 'off' })[];
  /** All requests on its subscription. */
  actions: readonly Action[];
  /** Spans in which its subscription need not send. */
  blocked: readonly Span[];
  /** The first target of its subscription. */
  target: string;
  endedAt: number;
  expected: Expectations;
}

export const FINISHED = ['succeeded', 'exhausted', 'cancelled'];

/**
 * @param actions those on the delivery and its subscription
 */
export function restartsOf(actions: readonly Action[]): Restart[] {
  return actions.flatMap(({ kind, from, to, ...rest }): Restart[] => {
    if (kind === 'redeliver' || kind === 'send') return [{ kind, from, to, states: FINISHED }];
    return 'states' in rest ? [{ kind: 'replay', from, to, states: rest.states }] : [];
  });
}

/** The requests that may have cancelled it. */
export function cancelsOf(delivery: Delivery, actions: readonly Action[]): Timeline['cancels'] {
  return actions.filter(
    (action): action is Timeline['cancels'][number] =>
      action.kind === 'cancel' || (action.kind === 'off' && action.to >= delivery.createdAt),
  );
}

/**
 * Spans in which a subscription may have been paused or held by an answer with Retry-After, or in which workers or
 * PostgreSQL were away.
 */
export function blockedSpans(
  actions: readonly Action[],
  sendings: readonly Sending[],
  harms: History['harms'],
): Span[] {
  const pauses = actions
    .filter(({ kind }) => kind === 'pause')
    .map((pause) => {
      const resumed = actions
        .filter(({ kind, from }) => kind === 'resume' && from > pause.to)
        .map(({ to }) => to);
      return { from: pause.from, to: Math.min(...resumed) };
    });
  const holds = sendings.flatMap(({ attempt }) => {
    if (attempt?.retryAfterMs === undefined) return [];
    const { at, durationMs, retryAfterMs } = attempt;
    return [{ from: at, to: at + durationMs + retryAfterMs + RECORDING_MS }];
  });
  return [...pauses, ...holds, ...harms];
}

/** Whether the delivery may have restarted from one of these states during a span. */
export function isRestarted(
  { restarts }: Timeline,
  states: readonly string[],
  between: Span,
): boolean {
  return restarts.some(
    (one) =>
      one.from <= between.to &&
      one.to >= between.from &&
      one.states.some((state) => states.includes(state)),
  );
}

/** Whether a customer may have asked until then to send it at once, whatever its schedule says and its subscription does. */
export function maySendNow({ restarts }: Timeline, until: number): boolean {
  return restarts.some(({ kind, from }) => kind === 'send' && from <= until);
}

/** How much of a span the others cover, in ms. */
export function covered(span: Span, others: readonly Span[]): number {
  let until = span.from;
  let sum = 0;
  for (const { from, to } of others.toSorted((one, other) => one.from - other.from)) {
    const start = Math.max(from, until);
    const end = Math.min(to, span.to);
    if (end <= start) continue;
    sum += end - start;
    until = end;
  }
  return sum;
}
