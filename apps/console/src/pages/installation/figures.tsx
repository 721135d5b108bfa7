import { durationText } from '../../components/time-text.js';
import type { Overview } from './installation.queries.js';

const number = new Intl.NumberFormat('en');

/** What is counted. */
export function Figures({ overview }: { overview: Overview }) {
  const { pending, oldestDueS, expiredClaims, workers, apis, queues } = overview;
  const alive = workers.filter(({ isAlive }) => isAlive);
  const inFlight = sumOf(alive.map((worker) => worker.inFlight));
  const figures: [string, string][] = [
    ['Pending', number.format(pending)],
    ['Oldest due', oldestDueS === undefined ? 'none' : durationText(oldestDueS * 1_000)],
    ['In flight', `${number.format(inFlight)} over ${workersText(alive.length)}`],
    ['Expired claims', number.format(expiredClaims)],
    ['Workers alive', `${alive.length} of ${workers.length}`],
    ['APIs alive', `${apis.filter(({ isAlive }) => isAlive).length} of ${apis.length}`],
    ['Jobs in queues', queues ? jobsText(queues) : 'Redis is away'],
  ];
  return (
    <dl className="figures">
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function workersText(count: number): string {
  return count === 1 ? '1 worker' : `${number.format(count)} workers`;
}

function jobsText(queues: NonNullable<Overview['queues']>): string {
  const waiting = sumOf(queues.map((queue) => queue.waiting));
  const active = sumOf(queues.map((queue) => queue.active));
  return `${number.format(waiting)} waiting, ${number.format(active)} active`;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}
