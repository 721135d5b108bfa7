import '../subscription/subscription.css';
import { ArrowRight } from 'lucide-react';
import { Link } from 'wouter';
import { AccountName } from '../../app/account-name.js';
import { Problem } from '../../app/problem.js';
import { LiveLines, number } from '../../components/lines.js';
import type { Load } from './loads.js';
import { ShareBar } from './share-bar.js';

const HEADS = ['Account', number('Events'), number('Waiting'), number('Share of worker time')];

/** The accounts that take most of the workers' time. */
export function TopLoads({
  data,
  error,
}: {
  data: readonly Load[] | undefined;
  error: Error | null;
}) {
  return (
    <section className="card half" aria-labelledby="load">
      <header>
        <h2 id="load">Accounts by load</h2>
        <span className="muted note">last hour</span>
        <Link href="/load" className="onward">
          All <span className="hidden">accounts by load</span> <ArrowRight size={14} aria-hidden />
        </Link>
      </header>
      <Problem error={error} />
      {data?.length === 0 && <p className="muted none">No account has had any load.</p>}
      {data && data.length > 0 && (
        <LiveLines heads={HEADS}>
          {data.map(({ accountId, reported, waiting, share }) => (
            <tr key={accountId}>
              <td>
                <Link href={`/accounts/${accountId}`}>
                  <AccountName id={String(accountId)} />
                </Link>
              </td>
              <td className="number">{reported.toLocaleString('en')}</td>
              <td className="number">{waiting.toLocaleString('en')}</td>
              <td className="number">
                <ShareBar share={share} />
              </td>
            </tr>
          ))}
        </LiveLines>
      )}
    </section>
  );
}
