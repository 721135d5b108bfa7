import { ChevronRight } from 'lucide-react';
import { Day } from '../../components/time.js';
import { bytesText } from './bytes-text.js';
import type { Overview } from './installation.queries.js';

const KINDS = ['events', 'deliveries', 'attempts'] as const;

/** The stored data of each day, and the next removal. */
export function Storage({ overview }: { overview: Overview }) {
  const { partitions, retention } = overview;
  const { days, nextAt } = retention;
  const total = partitions.reduce(
    (sum, each) => sum + KINDS.reduce((ofDay, kind) => ofDay + each[kind], 0),
    0,
  );
  return (
    <section className="card storage" aria-labelledby="storage">
      <h2 id="storage">Storage</h2>
      <p>
        Kept {days} days · Stored {bytesText(total)} in {partitions.length} days
        {nextAt !== undefined && (
          <>
            {' '}
            · Next removal <Day at={nextAt} />
          </>
        )}
      </p>
      <details>
        <summary>
          <ChevronRight size={14} aria-hidden /> By day
        </summary>
        <table className="partitions">
          <caption className="hidden">Stored data, by day in UTC</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {KINDS.map((kind) => (
                <th key={kind} scope="col">
                  {kind}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {partitions.map((each) => (
              <tr key={each.day}>
                <th scope="row">{each.day}</th>
                {KINDS.map((kind) => (
                  <td key={kind}>{bytesText(each[kind])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  );
}
