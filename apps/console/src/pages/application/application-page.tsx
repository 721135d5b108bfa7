import '../subscription/subscription.css';
import { useQuery } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { otherProblem, sentenceOf } from '../../app/api.js';
import { useEditing } from '../../app/editing.js';
import { useFaultFocus } from '../../app/fault-focus.js';
import { useCommands } from '../../app/palette.js';
import { Unavailable } from '../../app/problem.js';
import { Confirm } from '../../components/confirm.js';
import { Conflict } from '../../components/conflict.js';
import { Page } from '../../components/page.js';
import { LocalTime } from '../../components/time.js';
import { SubscriptionsOf } from '../subscriptions/subscriptions-of.js';
import { ApplicationFields } from './application-fields.js';
import {
  APPLICATION_LABELS,
  applicationValues,
  type ApplicationValues,
} from './application-values.js';
import {
  type Application,
  applicationQuery,
  useDeleteApplication,
  useUpdateApplication,
} from './application.queries.js';

/** One application: its settings and its subscriptions. */
export default function ApplicationPage({ params }: { params: Record<string, string> }) {
  const { data, error } = useQuery(applicationQuery(params['id'] ?? ''));
  if (data) return <Shown {...data} />;
  return (
    <Unavailable title="Application" error={error}>
      It may have been deleted, or belong to another account. Go to{' '}
      <Link href="/applications">all applications</Link>.
    </Unavailable>
  );
}

function Shown({ application, version }: { application: Application; version: string }) {
  const { id } = application;
  const [isDeleting, setIsDeleting] = useState(false);
  const [, navigate] = useLocation();
  useCommands([
    { name: 'Delete this application', group: 'Actions', run: () => setIsDeleting(true) },
    {
      name: 'New subscription of this application',
      group: 'Actions',
      run: () => navigate(`/subscriptions/new?applicationId=${id}`),
    },
  ]);
  return (
    <Page
      title="Application"
      actions={
        <button type="button" onClick={() => setIsDeleting(true)}>
          Delete
        </button>
      }
    >
      <p className="quiet">
        <bdi className="strong">{application.name}</bdi> · id {id} · created{' '}
        <LocalTime at={application.createdAt} /> · changed <LocalTime at={application.updatedAt} />{' '}
        · <Link href={`/deliveries?applicationId=${id}`}>its deliveries</Link>
      </p>
      <Settings application={application} version={version} />
      <SubscriptionsOf applicationId={id} />
      {isDeleting && (
        <Deletion
          application={application}
          version={version}
          onClose={() => setIsDeleting(false)}
        />
      )}
    </Page>
  );
}

function Settings({ application, version }: { application: Application; version: string }) {
  const form = useEditing<ApplicationValues>({ values: applicationValues(application), version });
  const update = useUpdateApplication(application.id);

  const element = useFaultFocus(update.error);

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    update.mutate({ values: form.values, base: form.base }, { onSuccess: form.saved });
  }

  const { changedByOthers } = form;
  const labels = APPLICATION_LABELS as Record<string, string>;
  return (
    <section aria-labelledby="settings">
      <h2 id="settings">Settings</h2>
      <form ref={element} className="settings" onSubmit={submit} noValidate>
        <ApplicationFields values={form.values} error={update.error} onChange={form.change} />
        {changedByOthers && !update.isPending ? (
          <Conflict
            what="this application"
            fields={changedByOthers.map((name) => labels[name] ?? name)}
            onKeep={() => {
              form.rebase();
              update.reset();
            }}
            onDiscard={() => {
              form.discard();
              update.reset();
            }}
          />
        ) : (
          <p className="problem" role="alert">
            {form.isDirty && otherProblem(update.error, Object.keys(labels))}
          </p>
        )}
        <button type="submit" className="primary" disabled={!form.isDirty || update.isPending}>
          Save
        </button>
      </form>
    </section>
  );
}

function Deletion({
  application: { id, name },
  version,
  onClose,
}: {
  application: Application;
  version: string;
  onClose: () => void;
}) {
  const remove = useDeleteApplication(id, version);
  const [, navigate] = useLocation();
  return (
    <Confirm
      label="Delete this application?"
      action="Delete"
      isBusy={remove.isPending}
      error={remove.error ? sentenceOf(remove.error) : undefined}
      onConfirm={() => remove.mutate(undefined, { onSuccess: () => navigate('/applications') })}
      onClose={onClose}
    >
      <p>
        <bdi>{name}</bdi> and its subscriptions are deleted at once, and what waits to be sent to
        them is cancelled. This cannot be undone.
      </p>
    </Confirm>
  );
}
