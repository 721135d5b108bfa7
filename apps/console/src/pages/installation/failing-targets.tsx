import { Link } from 'wouter';
import { ClockTime, RelativeTime } from '../../components/time.js';
import type { Overview } from './installation.queries.js';

/** The targets that have failed for the longest time, with the deliveries that show why. */
export function FailingTargets({ failing }: Pick<Overview, 'failing'>) {
  return (
    <section className="card" aria-labelledby="failing">
      <header>
        <h2 id="failing">Failing targets</h2>
        <span className="quiet">each hurts only its own subscription</span>
      </header>
      {failing.length === 0 ? (
        <p className="muted none">No target fails.</p>
      ) : (
        <div className="scrolling">
          <table className="lines">
            <thead>
              <tr>
                <th scope="col">Target</th>
                <th scope="col">Account</th>
                <th scope="col" className="number">
                  Failed in a row
                </th>
                <th scope="col">Since</th>
                <th scope="col">Next try</th>
                <th scope="col">Deliveries</th>
              </tr>
            </thead>
            <tbody>
              {failing.map((one) => (
                <tr key={one.webhookId}>
                  <td>
                    <bdi className="url mono">{one.targetUrl}</bdi>
                  </td>
                  <td>
                    <Link href={`/accounts/${one.accountId}`}>{one.accountId}</Link>
                  </td>
                  <td className="number">{one.failures >= 10 ? '10 or more' : one.failures}</td>
                  <td>
                    <ClockTime at={one.failingSince} />
                  </td>
                  <td>
                    {one.openUntil === undefined ? (
                      'by their schedules'
                    ) : (
                      <RelativeTime at={one.openUntil} />
                    )}
                  </td>
                  <td>
                    <Link
                      href={`/deliveries?accountId=${one.accountId}&webhookId=${one.webhookId}`}
                    >
                      of subscription {one.webhookId}
                    </Link>
                    {', '}
                    <Link href={`/deliveries?accountId=${one.accountId}`}>
                      of account {one.accountId}
                    </Link>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
