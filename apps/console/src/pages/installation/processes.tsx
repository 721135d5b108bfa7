import { Badge } from '../../components/notice.js';
import { RelativeTime } from '../../components/time.js';
import type { Overview } from './installation.queries.js';

type Process = Overview['apis'][number] | Overview['workers'][number];

/** The processes of a kind. */
export function Processes({ title, processes }: { title: string; processes: readonly Process[] }) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      {processes.length === 0 && <p className="quiet">None.</p>}
      <ul className="rows">
        {processes.map((process) => (
          <li key={process.id}>
            <bdi className="strong">{process.id}</bdi>
            <span>
              <Badge tone={process.isAlive ? 'good' : 'bad'}>
                {process.isAlive ? 'alive' : 'silent'}
              </Badge>{' '}
              <span className="quiet">
                last sign of life <RelativeTime at={process.seenAt} />
              </span>
            </span>
            <span className="quiet">
              version {process.version}, started <RelativeTime at={process.startedAt} />
              {'inFlight' in process && `, ${process.inFlight} in flight`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
