import '../subscription/subscription.css';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { useCustomer, useMayChangeShown, useSameAccount } from '../../app/account.js';
import { sentenceOf } from '../../app/api.js';
import { useCommands } from '../../app/commands.js';
import { Unavailable } from '../../app/problem.js';
import { SettingsSection } from '../../app/settings-section.js';
import { Confirm } from '../../components/confirm.js';
import { ReadOnly } from '../../components/form.js';
import { Page } from '../../components/page.js';
import { Day, RelativeTime } from '../../components/time.js';
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
  const { data, error } = useQuery(applicationQuery(params['id'] ?? '', useCustomer()));
  const inAccount = useSameAccount();
  if (data) return <Shown {...data} />;
  return (
    <Unavailable title="Application" error={error}>
      It may have been deleted, or belong to another account. Go to{' '}
      <Link href={inAccount('/applications')}>all applications</Link>.
    </Unavailable>
  );
}

const TABS = { subscriptions: 'Subscriptions', settings: 'Settings' };

function Shown({ application, version }: { application: Application; version: string }) {
  const { id, voiceUrl, messagingUrl } = application;
  const [search] = useSearchParams();
  const tab = search.get('tab') === 'settings' ? 'settings' : 'subscriptions';
  const inAccount = useSameAccount();
  const mayChange = useMayChangeShown();
  const update = useUpdateApplication(id);
  const [isDeleting, setIsDeleting] = useState(false);
  const [, navigate] = useLocation();
  const commands = [
    { name: 'Delete this application', group: 'Actions', run: () => setIsDeleting(true) },
    {
      name: 'New subscription of this application',
      group: 'Actions',
      run: () => navigate(`/subscriptions/new?applicationId=${id}`),
    },
  ];
  useCommands(mayChange ? commands : []);
  return (
    <Page
      title={application.name}
      tab={`${application.name} – Applications`}
      crumb={
        <Link href={inAccount('/applications')} className="crumb">
          Applications
        </Link>
      }
      actions={
        mayChange && (
          <button type="button" onClick={() => setIsDeleting(true)}>
            Delete
          </button>
        )
      }
    >
      <p className={tab === 'settings' ? 'about on-wide' : 'about'}>
        <bdi className="mono">{voiceUrl ?? messagingUrl}</bdi>
        <span>{application.apiType}</span>
        <span className="on-wide">
          since <Day at={application.createdAt} />
        </span>
        <span>
          changed <RelativeTime at={application.updatedAt} />
        </span>
        <span className="on-wide">id {id}</span>
        <Link href={inAccount(`/deliveries?applicationId=${id}`)}>its deliveries</Link>
      </p>
      <nav className="tabs" aria-label="Parts of the application">
        {Object.entries(TABS).map(([name, text]) => (
          <Link
            key={name}
            href={inAccount(`/applications/${id}${name === 'subscriptions' ? '' : `?tab=${name}`}`)}
            aria-current={name === tab ? 'page' : undefined}
          >
            {text}
          </Link>
        ))}
      </nav>
      {tab === 'subscriptions' ? (
        <SubscriptionsOf applicationId={id} />
      ) : !mayChange ? (
        <ReadOnly>
          <ApplicationFields values={applicationValues(application)} />
        </ReadOnly>
      ) : (
        <SettingsSection<ApplicationValues>
          what="this application"
          labels={APPLICATION_LABELS}
          now={{ values: applicationValues(application), version }}
          update={update}
        >
          {(fields) => <ApplicationFields {...fields} />}
        </SettingsSection>
      )}
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
        <bdi>{name}</bdi> and its subscriptions are deleted at once, and their waiting notifications
        are cancelled. This cannot be undone.
      </p>
    </Confirm>
  );
}
