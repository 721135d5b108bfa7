import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { idOf } from '#libs/client';
import { type SubmitEvent, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { faultsOf, otherProblem, type Schemas } from '../../app/api.js';
import { useEditing } from '../../app/editing.js';
import { useFaultFocus } from '../../app/fault-focus.js';
import { applicationsOf, subscriptionsOf } from '../../app/names.queries.js';
import { Field } from '../../components/field.js';
import { FormFoot } from '../../components/form.js';
import { Page } from '../../components/page.js';
import { EVENT_KINDS } from '../subscriptions/event-kinds.js';
import { fullText, isFull, roomText } from '../subscriptions/limits.js';
import { SubscriptionFields } from './fields.js';
import { FilterPreview } from './filter-preview.js';
import { useCreateSubscription } from './form.queries.js';
import { faultsIn, FORM_LABELS, NEW_SUBSCRIPTION, type SubscriptionValues } from './values.js';

/**
 * Creates a subscription of the account, or of one of its applications. Links may preset the application and the event.
 */
export default function NewSubscriptionPage() {
  const [search, setSearch] = useSearchParams();
  const { data: all } = useQuery(subscriptionsOf());
  const { data: applications = [] } = useQuery(applicationsOf());
  const countOf = (id: string) =>
    (all ?? []).filter((one) => (one.applicationId ?? '') === id).length;
  const roomy = ['', ...applications.map(({ id }) => id)].find((id) => !isFull(countOf(id)));
  const applicationId = search.get('applicationId') ?? roomy ?? '';
  const event = search.get('event') ?? '';
  const form = useEditing<SubscriptionValues>({
    values: { ...NEW_SUBSCRIPTION, ...(Object.hasOwn(EVENT_KINDS, event) && { event }) },
    version: '',
  });
  const [, navigate] = useLocation();
  const create = useCreateSubscription();
  const [own, setOwn] = useState<Record<string, string>>({});
  const present = countOf(applicationId);
  const hasNoRoom = isFull(present);

  const element = useFaultFocus(create.error, own);

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    const { values } = form;
    const found = faultsIn(values);
    setOwn(found);
    if (Object.keys(found).length > 0) return;
    create.mutate(
      { values, applicationId },
      {
        onSuccess: (made) => {
          form.discard();
          navigate(`/subscriptions/${idOf(made)}`, { state: { isNew: true } });
        },
      },
    );
  }

  function choose(id: string): void {
    setSearch({ applicationId: id }, { replace: true });
  }

  function discard(): void {
    form.discard();
    setOwn({});
    create.reset();
  }

  return (
    <Page
      title="New subscription"
      crumb={
        <Link href="/subscriptions" className="crumb">
          Subscriptions
        </Link>
      }
    >
      <form ref={element} className="settings" onSubmit={submit} noValidate>
        <SubscriptionFields
          values={form.values}
          faults={{ ...faultsOf(create.error, FORM_LABELS), ...own }}
          onChange={form.change}
          preview={
            <FilterPreview applicationId={applicationId || undefined} values={form.values} />
          }
          application={
            <Level
              applicationId={applicationId}
              applications={applications}
              hint={hasNoRoom ? undefined : all ? roomText(present) : '…'}
              error={hasNoRoom ? fullText(applicationId) : undefined}
              onChange={choose}
            />
          }
        />
        <p className="quiet">
          It gets its own secret, with which your server verifies the notifications.
        </p>
        <FormFoot
          action="Create"
          icon={<Plus size={15} aria-hidden />}
          isDisabled={hasNoRoom || create.isPending}
          problem={otherProblem(create.error, Object.keys(FORM_LABELS))}
          onDiscard={form.isDirty ? discard : undefined}
        />
      </form>
    </Page>
  );
}

/** The source of its events. */
function Level({
  applicationId,
  applications,
  hint,
  error,
  onChange,
}: {
  applicationId: string;
  applications: readonly Schemas['Application'][];
  hint: string | undefined;
  error: string | undefined;
  onChange: (applicationId: string) => void;
}) {
  const isListed = applicationId === '' || applications.some(({ id }) => id === applicationId);
  return (
    <Field label="Application" hint={hint} error={error}>
      <select value={applicationId} onChange={({ target }) => onChange(target.value)}>
        <option value="">All: the whole account</option>
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
