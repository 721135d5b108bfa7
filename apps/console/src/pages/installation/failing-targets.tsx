import { Link } from 'wouter';
import { Badge } from '../../components/notice.js';
import { RelativeTime } from '../../components/time.js';
import type { Overview } from './installation.queries.js';

/** The targets that have failed for the longest time, with the deliveries that show why. */
export function FailingTargets({ failing }: Pick<Overview, 'failing'>) {
  return (
    <section aria-labelledby="failing">
      <h2 id="failing">Failing targets</h2>
      {failing.length === 0 && <p className="quiet">None.</p>}
      <ul className="rows">
        {failing.map(({ webhookId, accountId, targetUrl, failures, failingSince, openUntil }) => (
          <li key={webhookId}>
            <bdi className="strong">{targetUrl}</bdi>
            <span>
              <Badge tone="bad">{failures >= 10 ? '10 or more' : failures} failed in a row</Badge>{' '}
              <span className="quiet">
                first failed <RelativeTime at={failingSince} />
                {openUntil !== undefined && (
                  <>
                    , tried again <RelativeTime at={openUntil} />
                  </>
                )}
              </span>
            </span>
            <span>
              <Link href={`/deliveries?accountId=${accountId}&webhookId=${webhookId}`}>
                Deliveries of subscription {webhookId}
              </Link>{' '}
              · <Link href={`/deliveries?accountId=${accountId}`}>of account {accountId}</Link> ·{' '}
              <Link href={`/accounts/${accountId}`}>the account</Link>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
