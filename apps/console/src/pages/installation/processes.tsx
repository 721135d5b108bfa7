import { Lines, number, wide } from '../../components/lines.js';
import { Pill } from '../../components/notice.js';
import { RelativeTime } from '../../components/time.js';
import { bytesText } from './bytes-text.js';
import type { Overview } from './installation.queries.js';

const HEADS = [
  'Name',
  wide('Kind'),
  'State',
  wide('Version'),
  wide('Started'),
  number('In flight'),
  number('CPU'),
  number('Memory'),
];

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
      <Lines heads={HEADS}>
        {processes.map((one) => (
          <tr key={`${one.kind} ${one.id}`}>
            <td>
              <bdi className="mono">{one.id}</bdi>
            </td>
            <td className="wide">{one.kind}</td>
            <td>
              <Pill tone={one.isAlive ? 'good' : 'bad'}>{one.isAlive ? 'alive' : 'silent'}</Pill>
              {!one.isAlive && (
                <span className="muted">
                  {' '}
                  last seen <RelativeTime at={one.seenAt} />
                </span>
              )}
            </td>
            <td className="wide">{one.version}</td>
            <td className="muted wide">
              <RelativeTime at={one.startedAt} />
            </td>
            <td className="number">{one.inFlight ?? '–'}</td>
            <td className="number">{one.cpuPercent === undefined ? '–' : `${one.cpuPercent}%`}</td>
            <td className="number">
              {one.memoryBytes === undefined ? '–' : bytesText(one.memoryBytes)}
            </td>
          </tr>
        ))}
      </Lines>
    </section>
  );
}
