import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { answerOf, api, faultsOf, type Schemas, sentenceOf } from '../../app/api.js';
import { faultAt } from '../../app/faults.js';
import { ClockTime } from '../../components/time.js';
import { previewOf, rowsOf } from './filter-rows.js';
import { FORM_LABELS, type SubscriptionValues } from './values.js';

/** Typing goes on if the next key comes within this time. */
const SETTLED_MS = 400;
const SHOWN = 5;

/** What a subscription is for. */
interface Wanted {
  event: Schemas['EventKind'];
  resource: string;
  applicationId: string | undefined;
}

/** What a subscription would get. @param filter JSON text */
const previewQuery = ({ event, resource, applicationId }: Wanted, filter: string) =>
  queryOptions({
    queryKey: ['filter', event, resource, applicationId, filter],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const wanted = { event, resource, ...(applicationId !== undefined && { applicationId }) };
      // As text, so that numbers keep all their digits.
      const bodySerializer = () => `${JSON.stringify(wanted).slice(0, -1)},"filter":${filter}}`;
      const body = { ...wanted, filter: {} };
      return answerOf(api.POST('/v1/webhooks/filter/preview', { body, bodySerializer, signal }));
    },
  });

/** Tries the filter of a form on the latest events as it is typed. */
export function FilterPreview({
  applicationId,
  values,
}: {
  applicationId: string | undefined;
  values: SubscriptionValues;
}) {
  const filter = useSettled(previewOf(rowsOf(values.filter)));
  const event = values.event as Schemas['EventKind'];
  return (
    <div role="status" className="preview">
      {filter !== undefined && values.resource !== '' && (
        <Tried wanted={{ event, resource: values.resource, applicationId }} filter={filter} />
      )}
    </div>
  );
}

function Tried({ wanted, filter }: { wanted: Parameters<typeof previewQuery>[0]; filter: string }) {
  const { data, error } = useQuery(previewQuery(wanted, filter));
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
