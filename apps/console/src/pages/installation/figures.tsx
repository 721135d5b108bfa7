import { Figure, Figures } from '../../components/figure.js';
import { durationText } from '../../components/time-text.js';
import { type Overview, type Sample } from './installation.queries.js';

const number = new Intl.NumberFormat('en');

/** The current figures, and their history since the page was opened. */
export function Counts({
  overview,
  samples,
}: {
  overview: Overview;
  /** Oldest first; the last one is current. */
  samples: readonly Sample[];
}) {
  const { oldestDueS, expiredClaims, workers, queues } = overview;
  const { pending, inFlight, jobs } = samples.at(-1)!;
  const alive = workers.filter(({ isAlive }) => isAlive).length;
  const courseOf = (name: keyof Sample) =>
    samples.length > 1 ? samples.map((sample) => sample[name] ?? null) : undefined;
  return (
    <Figures>
      <Figure name="Waiting" note={claimsText(expiredClaims)} course={courseOf('pending')}>
        {number.format(pending)}
      </Figure>
      <Figure
        name="Oldest due"
        note={oldestDueS === undefined ? 'nothing is due' : 'waits for a worker'}
        course={courseOf('oldestDueS')}
        colour="warn"
      >
        {oldestDueS === undefined ? '–' : durationText(oldestDueS * 1_000)}
      </Figure>
      <Figure
        name="In flight"
        note={`over ${alive === 1 ? '1 worker' : `${number.format(alive)} workers`}`}
        course={courseOf('inFlight')}
        colour="good"
      >
        {number.format(inFlight)}
      </Figure>
      <Figure
        name="Jobs in queues"
        note={queues ? 'wait for a worker' : 'Redis is down'}
        course={courseOf('jobs')}
      >
        {jobs === undefined ? '–' : number.format(jobs)}
      </Figure>
    </Figures>
  );
}

function claimsText(count: number): string {
  return count === 0 ? 'unfinished deliveries' : `${number.format(count)} left by a worker`;
}
