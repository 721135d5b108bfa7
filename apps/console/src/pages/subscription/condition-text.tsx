import { Link } from 'wouter';
import { AnswerCode } from '../../components/answer-code.js';
import { Day, LocalTime, RelativeTime } from '../../components/time.js';
import type { Condition } from '../../states/subscription-state.js';
import { useLastFailure } from './last-failure.js';

/** One line: since when a condition holds, its cause, what happens next, and what happens if nothing changes. */
export function Moments({
  of: { since, next, disables, needsAttention },
  webhookId,
}: {
  of: Condition;
  webhookId: string;
}) {
  return (
    <p className="moments">
      {since?.at !== undefined && (
        <span>
          {since.text} <RelativeTime at={since.at} />
        </span>
      )}
      {needsAttention && <LastFailure webhookId={webhookId} />}
      <span>
        {next.text}
        {next.at !== undefined && (
          <>
            {' '}
            <RelativeTime at={next.at} />, at <LocalTime at={next.at} />
          </>
        )}
      </span>
      {disables?.at !== undefined && (
        <span>
          {disables.text} <Day at={disables.at} /> unless it recovers
        </span>
      )}
    </p>
  );
}

/** The last failure of a subscription. */
function LastFailure({ webhookId }: { webhookId: string }) {
  const data = useLastFailure(webhookId);
  // A placeholder, so that nothing moves later.
  if (data === undefined) {
    return (
      <span className="to-come">
        Last failure <AnswerCode status={500} />
      </span>
    );
  }
  return (
    data && (
      <span>
        Last failure{' '}
        <Link href={`/deliveries/${data.id}`}>
          <AnswerCode {...data.lastAttempt} />
        </Link>
      </span>
    )
  );
}
