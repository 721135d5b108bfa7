import './subscription.css';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { idOf } from '#libs/client';
import { type SubmitEvent, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { faultsOf, otherProblem } from '../../app/api.js';
import { useFaultFocus } from '../../app/fault-focus.js';
import { Field } from '../../components/field.js';
import { Page } from '../../components/page.js';
import { applicationsQuery } from '../applications/applications.queries.js';
import { EVENT_KINDS } from '../subscriptions/event-kinds.js';
import { isFull, roomText } from '../subscriptions/limits.js';
import { subscriptionsAt } from '../subscriptions/subscriptions.queries.js';
import { SubscriptionFields } from './fields.js';
import { useCreateSubscription } from './subscription.queries.js';
import { faultsIn, FORM_LABELS, NEW_SUBSCRIPTION } from './values.js';

/** Makes a subscription of the account, or of one of its applications: links may say which, and to what event. */
export default function NewSubscriptionPage() {
  const [search, setSearch] = useSearchParams();
  const applicationId = search.get('applicationId') ?? '';
  const event = search.get('event') ?? '';
  const [values, setValues] = useState({
    ...NEW_SUBSCRIPTION,
    ...(Object.hasOwn(EVENT_KINDS, event) && { event }),
  });
  const [, navigate] = useLocation();
  const create = useCreateSubscription();
  const { data: present } = useQuery(subscriptionsAt(applicationId));
  const [own, setOwn] = useState<Record<string, string>>({});
  const hasNoRoom = present !== undefined && isFull(present.length);

  const element = useFaultFocus(create.error, own);

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    const found = faultsIn(values);
    setOwn(found);
    if (Object.keys(found).length > 0) return;
    create.mutate(
      { values, applicationId },
      {
        onSuccess: (made) => navigate(`/subscriptions/${idOf(made)}`, { state: { isNew: true } }),
      },
    );
  }

  function choose(id: string): void {
    setSearch(id === '' ? {} : { applicationId: id }, { replace: true });
  }

  const room = present && roomText(present.length);
  return (
    <Page title="New subscription">
      <form ref={element} className="settings" onSubmit={submit} noValidate>
        <Level
          applicationId={applicationId}
          hint={hasNoRoom ? undefined : (room ?? '…')}
          error={hasNoRoom ? room : undefined}
          onChange={choose}
        />
        <SubscriptionFields
          values={values}
          faults={{ ...faultsOf(create.error), ...own }}
          onChange={(some) => setValues({ ...values, ...some })}
        />
        <p className="quiet">
          It gets a secret of its own, by which your server verifies its notifications.
        </p>
        <p className="problem" role="alert">
          {otherProblem(create.error, Object.keys(FORM_LABELS))}
        </p>
        <button type="submit" className="primary" disabled={hasNoRoom || create.isPending}>
          Create
        </button>
      </form>
    </Page>
  );
}

/** Whose events it gets. The later applications of a long list are chosen on their own pages. */
function Level({
  applicationId,
  hint,
  error,
  onChange,
}: {
  applicationId: string;
  hint: string | undefined;
  error: string | undefined;
  onChange: (applicationId: string) => void;
}) {
  const { data } = useInfiniteQuery(applicationsQuery);
  const applications = data?.pages.flatMap(({ rows }) => rows) ?? [];
  const isListed = applicationId === '' || applications.some(({ id }) => id === applicationId);
  return (
    <Field label="For events of" hint={hint} error={error}>
      <select value={applicationId} onChange={({ target }) => onChange(target.value)}>
        <option value="">the whole account</option>
        {!isListed && <option value={applicationId}>application {applicationId}</option>}
        {applications.map(({ id, name }) => (
          <option key={id} value={id}>
            {name} ({id})
          </option>
        ))}
      </select>
    </Field>
  );
}
