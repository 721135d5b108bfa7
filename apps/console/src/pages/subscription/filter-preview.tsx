import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { answerOf, api, faultsOf, type Schemas, sentenceOf } from '../../app/api.js';
import { faultAt } from '../../app/faults.js';
import { ClockTime } from '../../components/time.js';
import { previewOf, rowsOf } from './filter-rows.js';
import type { Subscription } from './subscription.queries.js';
import { FORM_LABELS, type SubscriptionValues } from './values.js';

/** Typing goes on if the next key comes within this time. */
const SETTLED_MS = 400;
const SHOWN = 5;

/** What a filter would match of the subscription's latest events. @param filter its JSON text */
const previewQuery = (webhookId: string, filter: string) =>
  queryOptions({
    queryKey: ['webhook', webhookId, 'filter', filter],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const params = { path: { id: webhookId } };
      // As text, so that numbers keep all their digits.
      const bodySerializer = () => `{"filter":${filter}}`;
      const body = { filter: {} };
      return answerOf(
        api.POST('/v1/webhooks/{id}/filter/preview', { params, body, bodySerializer, signal }),
      );
    },
  });

/** Tries a filter on the latest events as it is typed. */
export function FilterPreview({
  subscription: { id, event, resource },
  values,
}: {
  /** As it is stored. */
  subscription: Subscription;
  /** The form's values. */
  values: SubscriptionValues;
}) {
  const filter = useSettled(previewOf(rowsOf(values.filter)));
  const isOfSaved = values.event === event && values.resource === resource;
  return (
    <div role="status" className="preview">
      {filter !== undefined && (
        <>
          <Tried webhookId={id} filter={filter} />
          {!isOfSaved && <p className="hint">Counted by the saved event and resources.</p>}
        </>
      )}
    </div>
  );
}

function Tried({ webhookId, filter }: { webhookId: string; filter: string }) {
  const { data, error } = useQuery(previewQuery(webhookId, filter));
  if (error) {
    return (
      <p className="problem">
        {faultAt(faultsOf(error, FORM_LABELS), 'filter') ?? sentenceOf(error)}
      </p>
    );
  }
  return (
    data && (
      <>
        <p>{countText(data)}</p>
        {data.examples.length > 0 && (
          <ul>
            {data.examples.slice(0, SHOWN).map(({ id, createdAt, producerId }) => (
              <li key={id}>
                <Link href={`/events/${id}`}>
                  <ClockTime at={createdAt} hasClock /> <bdi className="mono">{producerId}</bdi>
                </Link>
              </li>
            ))}
          </ul>
        )}
      </>
    )
  );
}

function countText({ events, matching }: Schemas['FilterPreview']): string {
  if (events === 0) return 'There are no events yet to try it on.';
  const [part, all] = [matching, events].map((count) => count.toLocaleString('en'));
  const newest = events === 1 ? 'the only event' : `the newest ${all} events`;
  return `Matches ${part} of ${newest}${matching === 0 ? '.' : ', for example:'}`;
}

/** A value that has not changed for a while. */
function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(value), SETTLED_MS);
    return () => window.clearTimeout(timer);
  }, [value]);
  return settled;
}
