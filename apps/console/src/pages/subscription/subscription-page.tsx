import './subscription.css';
import { useQuery } from '@tanstack/react-query';
import { idOf } from '#libs/client';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import { sentenceOf } from '../../app/api.js';
import { ApplicationName } from '../../app/names.js';
import { useCommands } from '../../app/palette.js';
import { Unavailable } from '../../app/problem.js';
import { SettingsSection } from '../../app/settings-section.js';
import { Confirm } from '../../components/confirm.js';
import { Page } from '../../components/page.js';
import { LocalTime } from '../../components/time.js';
import { showToast } from '../../components/toast.js';
import { SubscriptionStatistics } from '../overview/subscription-statistics.js';
import { SubscriptionFields } from './fields.js';
import { HealthSection } from './health-section.js';
import { MissedBefore } from './missed-before.js';
import { ReceiverSection } from './receiver-section.js';
import { SecretSection } from './secret-section.js';
import {
  type Shown,
  subscriptionQuery,
  useDeleteSubscription,
  usePause,
  useSwitch,
  useTest,
  useUpdateSubscription,
} from './subscription.queries.js';
import { faultsIn, FORM_LABELS, type SubscriptionValues, subscriptionValues } from './values.js';

/** One subscription: its health, settings and secret, a receiver for it, and its attempts. */
export default function SubscriptionPage({ params }: { params: Record<string, string> }) {
  const { data, error } = useQuery(subscriptionQuery(params['id'] ?? ''));
  if (data) return <ShownPage shown={data} />;
  return (
    <Unavailable title="Subscription" error={error}>
      It may have been deleted, or belong to another account. Go to{' '}
      <Link href="/subscriptions">all subscriptions</Link>.
    </Unavailable>
  );
}

function ShownPage({ shown }: { shown: Shown }) {
  const { webhook } = shown;
  const isNew = useHistoryState<{ isNew?: true } | null>()?.isNew;
  const update = useUpdateSubscription(webhook.id);
  const { applicationId } = webhook;
  return (
    <Page title="Subscription" actions={<Actions shown={shown} />}>
      <p className="quiet">
        {webhook.name !== undefined && (
          <>
            <bdi className="strong">{webhook.name}</bdi> ·{' '}
          </>
        )}
        id {webhook.id} ·{' '}
        {applicationId === undefined ? (
          'for the whole account'
        ) : (
          <>
            for{' '}
            <Link href={`/applications/${applicationId}`}>
              application <ApplicationName id={applicationId} />
            </Link>
          </>
        )}{' '}
        · created <LocalTime at={webhook.createdAt} /> · changed{' '}
        <LocalTime at={webhook.updatedAt} />
      </p>
      {isNew && <MissedBefore subscription={webhook} />}
      <HealthSection subscription={webhook} />
      <SettingsSection<SubscriptionValues>
        what="this subscription"
        labels={FORM_LABELS}
        now={{ values: subscriptionValues(webhook, shown.text), version: shown.version }}
        update={update}
        check={faultsIn}
      >
        {(fields) => <SubscriptionFields {...fields} />}
      </SettingsSection>
      {/* Another kind of key is another secret. */}
      <SecretSection
        key={webhook.publicKey === undefined ? 'hmac' : 'ed25519'}
        subscription={webhook}
      />
      <ReceiverSection signature={webhook.signature ?? 'hmac-sha256'} />
      <SubscriptionStatistics webhookId={webhook.id} />
    </Page>
  );
}

/** What can be done with the whole subscription: buttons, and actions in the palette. */
function Actions({ shown: { webhook, version } }: { shown: Shown }) {
  const { id, enabled, paused = false } = webhook;
  const [asked, setAsked] = useState<'off' | 'delete'>();
  const [, navigate] = useLocation();
  const test = useTest(id);
  const pause = usePause(id);
  const power = useSwitch(id, version);

  const sendTest = () =>
    test.mutate(undefined, { onSuccess: (made) => navigate(`/deliveries/${idOf(made)}`) });
  const switchOn = () =>
    power.mutate(true, { onError: (error) => showToast(sentenceOf(error), 'bad') });
  const actions = enabled
    ? [
        { name: 'Send a test', run: sendTest, isBusy: test.isPending },
        paused
          ? { name: 'Resume', run: () => pause.mutate(false), isBusy: pause.isPending }
          : { name: 'Pause', run: () => pause.mutate(true), isBusy: pause.isPending },
        { name: 'Switch off', run: () => setAsked('off'), isBusy: power.isPending },
      ]
    : [{ name: 'Switch on', run: switchOn, isBusy: power.isPending }];
  const all = [...actions, { name: 'Delete', run: () => setAsked('delete'), isBusy: false }];
  useCommands(
    all.map(({ name, run }) => {
      const to = name === 'Send a test' ? ' to' : '';
      return { name: `${name}${to} this subscription`, group: 'Actions', run };
    }),
  );
  return (
    <>
      {all.map(({ name, run, isBusy }) => (
        <button key={name} type="button" disabled={isBusy} onClick={run}>
          {name}
        </button>
      ))}
      {asked === 'off' && (
        <Confirm
          label="Switch this subscription off?"
          action="Switch off"
          isBusy={power.isPending}
          error={power.error ? sentenceOf(power.error) : undefined}
          onConfirm={() => power.mutate(false, { onSuccess: () => setAsked(undefined) })}
          onClose={() => setAsked(undefined)}
        >
          <p>
            What waits to be sent is cancelled, and new events are not kept for it. To keep them,
            pause it instead.
          </p>
        </Confirm>
      )}
      {asked === 'delete' && (
        <Deletion id={id} version={version} onClose={() => setAsked(undefined)} />
      )}
    </>
  );
}

function Deletion({ id, version, onClose }: { id: string; version: string; onClose: () => void }) {
  const remove = useDeleteSubscription(id, version);
  const [, navigate] = useLocation();
  return (
    <Confirm
      label="Delete this subscription?"
      action="Delete"
      isBusy={remove.isPending}
      error={remove.error ? sentenceOf(remove.error) : undefined}
      onConfirm={() => remove.mutate(undefined, { onSuccess: () => navigate('/subscriptions') })}
      onClose={onClose}
    >
      <p>What waits to be sent to it is cancelled. This cannot be undone.</p>
    </Confirm>
  );
}
