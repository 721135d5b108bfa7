import { Pill } from '../../components/notice.js';
import { RelativeTime } from '../../components/time.js';
import type { Overview } from './installation.queries.js';

/** Workers and APIs. */
export function Processes({ workers, apis }: Pick<Overview, 'workers' | 'apis'>) {
  const processes = [
    ...workers.map((one) => ({ ...one, kind: 'worker' })),
    ...apis.map((one) => ({ ...one, kind: 'API', inFlight: undefined })),
  ];
  return (
    <section className="card" aria-labelledby="processes">
      <header>
        <h2 id="processes">Processes</h2>
      </header>
      <div className="scrolling">
        <table className="lines">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Kind</th>
              <th scope="col">State</th>
              <th scope="col">Version</th>
              <th scope="col">Started</th>
              <th scope="col">Last sign of life</th>
              <th scope="col" className="number">
                In flight
              </th>
            </tr>
          </thead>
          <tbody>
            {processes.map((one) => (
              <tr key={`${one.kind} ${one.id}`}>
                <td>
                  <bdi className="mono">{one.id}</bdi>
                </td>
                <td>{one.kind}</td>
                <td>
                  <Pill tone={one.isAlive ? 'good' : 'bad'}>
                    {one.isAlive ? 'alive' : 'silent'}
                  </Pill>
                </td>
                <td>{one.version}</td>
                <td className="muted">
                  <RelativeTime at={one.startedAt} />
                </td>
                <td className="muted">
                  <RelativeTime at={one.seenAt} />
                </td>
                <td className="number">{one.inFlight ?? '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
