import { Figure, Figures } from '../../components/figure.js';
import { durationText } from '../../components/time-text.js';
import type { Overview } from './installation.queries.js';

const number = new Intl.NumberFormat('en');

/** What is counted. */
export function Counts({ overview }: { overview: Overview }) {
  const { pending, oldestDueS, expiredClaims, workers, queues } = overview;
  const alive = workers.filter(({ isAlive }) => isAlive);
  const inFlight = sumOf(alive.map((worker) => worker.inFlight));
  const waiting = queues && sumOf(queues.map((queue) => queue.waiting));
  const active = queues && sumOf(queues.map((queue) => queue.active));
  return (
    <Figures>
      <Figure name="Pending" note={claimsText(expiredClaims)}>
        {number.format(pending)}
      </Figure>
      <Figure name="Oldest due" note="the time that it has waited">
        {oldestDueS === undefined ? 'none' : durationText(oldestDueS * 1_000)}
      </Figure>
      <Figure name="In flight" note={`over ${workersText(alive.length)}`}>
        {number.format(inFlight)}
      </Figure>
      <Figure
        name="Jobs in queues"
        note={active === undefined ? 'Redis is away' : `${number.format(active)} being handled`}
      >
        {waiting === undefined ? '–' : number.format(waiting)}
      </Figure>
    </Figures>
  );
}

function claimsText(count: number): string {
  return count === 0 ? 'no expired claims' : `${number.format(count)} expired claims`;
}

function workersText(count: number): string {
  return count === 1 ? '1 worker' : `${number.format(count)} workers`;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
