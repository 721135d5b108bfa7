import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { ArrowRight } from 'lucide-react';
import { Link } from 'wouter';
import { useMayChangeShown, useSameAccount } from '../../app/account.js';
import { answerOf, api } from '../../app/api.js';
import { useStream } from '../../app/stream.js';
import { AnswerCode } from '../../components/answer-code.js';
import { LiveLines, number } from '../../components/lines.js';
import { durationText } from '../../components/time-text.js';
import { ClockTime } from '../../components/time.js';
import { StatePill } from '../deliveries/state-pill.js';

const HEADS = [
  'Time',
  'State',
  'Event',
  'Producer’s id',
  'Answer',
  number('Tries'),
  number('Took'),
];

const SHOWN = 8;

const latestQuery = (webhookId: string) =>
  queryOptions({
    queryKey: ['webhook', webhookId, 'latest deliveries'],
    queryFn: ({ signal }) => {
      const query = { webhookId, limit: SHOWN };
      return answerOf(api.GET('/v1/deliveries', { params: { query }, signal }));
    },
  });

/** The newest deliveries of a subscription. */
export function LatestDeliveries({ webhookId }: { webhookId: string }) {
  const client = useQueryClient();
  const inAccount = useSameAccount();
  const mayChange = useMayChangeShown();
  const { data } = useQuery(latestQuery(webhookId));
  useStream({
    delivery: (changed) => {
      if (changed.webhookId !== webhookId) return;
      void client.invalidateQueries({ queryKey: latestQuery(webhookId).queryKey });
    },
  });
  return (
    <section className="card" aria-labelledby="latest">
      <header>
        <h2 id="latest">Latest deliveries</h2>
        <span className="actions">
          <Link href={inAccount(`/events?missedBy=${webhookId}`)} className="onward">
            Missed events <ArrowRight size={14} aria-hidden />
          </Link>
          <Link href={inAccount(`/deliveries?webhookId=${webhookId}`)} className="onward">
            All deliveries <ArrowRight size={14} aria-hidden />
          </Link>
        </span>
      </header>
      {data?.length === 0 && (
        <p className="muted none">None yet.{mayChange && ' Send a test, and it appears here.'}</p>
      )}
      {data && data.length > 0 && (
        <LiveLines heads={HEADS}>
          {data.map((delivery) => (
            <tr key={delivery.id}>
              <td>
                <Link href={`/deliveries/${delivery.id}`}>
                  <ClockTime at={delivery.createdAt} />
                </Link>
              </td>
              <td>
                <StatePill delivery={delivery} />
              </td>
              <td>
                {delivery.event}{' '}
                <span className="muted">
                  · {delivery.resource}
                  {delivery.test && ' · test'}
                </span>
              </td>
              <td>
                <bdi className="mono">{delivery.producerId ?? '–'}</bdi>
              </td>
              <td>{delivery.lastAttempt ? <AnswerCode {...delivery.lastAttempt} /> : '–'}</td>
              <td className="number muted">{delivery.attempts}</td>
              <td className="number mono">
                {delivery.lastAttempt ? durationText(delivery.lastAttempt.durationMs) : '–'}
              </td>
            </tr>
          ))}
        </LiveLines>
      )}
    </section>
  );
}
