import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { AccountName } from '../../app/account-name.js';
import { AnswerCode } from '../../components/answer-code.js';
import { LiveLines, number, wide } from '../../components/lines.js';
import { ClockTime, RelativeTime, useNow } from '../../components/time.js';
import { openBlock, RETRIED } from '../../states/blocks.js';
import { lastProblemQuery, type Overview } from './installation.queries.js';

const HEADS = [
  'Host',
  wide('Account'),
  'Problem',
  wide('Failing since'),
  wide('Next try'),
  number('Waiting'),
];

/** The API returns no more. */
const MOST = 20;
/** The API counts no more per subscription and day. */
const MOST_WAITING = 10_000;

/** The targets that have failed for the longest time, each with its newest failed delivery. */
export function FailingTargets({ failing }: Pick<Overview, 'failing'>) {
  return (
    <section className="card half" aria-labelledby="failing">
      <header>
        <h2 id="failing">Failing targets</h2>
        <span className="muted note">
          {failing.length >= MOST && `the ${MOST} that have failed for the longest time; `}
          each affects only its own subscription
        </span>
      </header>
      {failing.length === 0 ? (
        <p className="muted none">No target is failing.</p>
      ) : (
        <LiveLines heads={HEADS}>
          {failing.map((target) => (
            <Target key={target.webhookId} target={target} />
          ))}
        </LiveLines>
      )}
    </section>
  );
}

function Target({ target }: { target: Overview['failing'][number] }) {
  const { webhookId, accountId, failingSince, openUntil, waiting } = target;
  return (
    <tr>
      <td>
        <Host {...target} />
      </td>
      <td className="wide">
        <Link href={`/accounts/${accountId}`}>
          <AccountName id={accountId} />
        </Link>
      </td>
      <td className="answer">
        <LastProblem webhookId={webhookId} />
      </td>
      <td className="muted wide">
        <ClockTime at={failingSince} />
      </td>
      <td className="muted wide">
        {openUntil === undefined ? RETRIED.brief : <NextTry at={openUntil} />}
      </td>
      <td className="number">
        {waiting.toLocaleString('en')}
        {waiting >= MOST_WAITING && ' or more'}
      </td>
    </tr>
  );
}

/** The subscriptions that have lost the most notifications in the last 24 hours. */
export function LosingSubscriptions({ losing }: Pick<Overview, 'losing'>) {
  if (losing.length === 0) return null;
  return (
    <section className="card" aria-labelledby="losing">
      <header>
        <h2 id="losing">Losing notifications</h2>
        <span className="muted note">
          {losing.length >= MOST && `the ${MOST} that have lost the most; `}
          failed, or cancelled by the service, in the last 24 hours
        </span>
      </header>
      <LiveLines heads={['Host', wide('Account'), 'Last one', number('Lost')]}>
        {losing.map(({ webhookId, accountId, targetUrl, lost, lastLostAt }) => (
          <tr key={webhookId}>
            <td>
              <Host {...{ webhookId, accountId, targetUrl }} />
            </td>
            <td className="wide">
              <Link href={`/accounts/${accountId}`}>
                <AccountName id={accountId} />
              </Link>
            </td>
            <td className="muted">
              <RelativeTime at={lastLostAt} />
            </td>
            <td className="number">{lost.toLocaleString('en')}</td>
          </tr>
        ))}
      </LiveLines>
    </section>
  );
}

/** The host of a target, with a link to the deliveries; on a phone with the account. */
function Host({
  webhookId,
  accountId,
  targetUrl,
}: Pick<Overview['losing'][number], 'webhookId' | 'accountId' | 'targetUrl'>) {
  const { host, pathname } = new URL(targetUrl);
  return (
    <>
      <Link
        className="target mono"
        href={`/deliveries?accountId=${accountId}&webhookId=${webhookId}`}
        title={targetUrl}
      >
        <bdi>{host}</bdi>
        <bdi className="muted wide">{pathname}</bdi>
      </Link>
      <span className="of-account quiet">
        <AccountName id={accountId} />
      </span>
    </>
  );
}

function NextTry({ at }: { at: string }) {
  const isDue = useNow((now) => Date.parse(at) <= now);
  return isDue ? openBlock(undefined).next.brief : <RelativeTime at={at} />;
}

function LastProblem({ webhookId }: { webhookId: string }) {
  const { data } = useQuery(lastProblemQuery(webhookId));
  return data?.lastAttempt ? (
    <Link href={`/deliveries/${data.id}`} title="The newest delivery that failed">
      <AnswerCode {...data.lastAttempt} />
    </Link>
  ) : (
    '–'
  );
}
