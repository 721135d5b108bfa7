import './subscription.css';
import { useQuery } from '@tanstack/react-query';
import { idOf } from '#libs/client';
import { Power, Send } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import { sentenceOf } from '../../app/api.js';
import { useHasDraft } from '../../app/drafts.js';
import { EDITED } from '../../app/editing.js';
import { ApplicationName } from '../../app/names.js';
import { useCommands } from '../../app/palette.js';
import { Unavailable } from '../../app/problem.js';
import { SettingsSection } from '../../app/settings-section.js';
import { Confirm } from '../../components/confirm.js';
import { Menu } from '../../components/menu.js';
import { Pill } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { Day } from '../../components/time.js';
import { showToast } from '../../components/toast.js';
import { SubscriptionStatistics } from '../overview/subscription-statistics.js';
import { SubscriptionFields } from './fields.js';
import { HealthSection } from './health-section.js';
import { LatestDeliveries } from './latest-deliveries.js';
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
import { useConditions } from './use-conditions.js';
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

const TABS = {
  activity: 'Activity',
  settings: 'Settings',
  secret: 'Signing secret',
  receiver: 'Receiver code',
};
type TabName = keyof typeof TABS;

const isTab = (name: string | null): name is TabName => Object.hasOwn(TABS, name ?? '');

function ShownPage({ shown }: { shown: Shown }) {
  const { webhook } = shown;
  const isNew = useHistoryState<{ isNew?: true } | null>()?.isNew;
  const [search] = useSearchParams();
  const named = search.get('tab');
  const tab = isTab(named) ? named : 'activity';
  const conditions = useConditions(webhook);
  const [{ tone, word }] = conditions;
  const needsAttention = conditions.some((condition) => condition.needsAttention);
  const { id, applicationId, event, resource, targetUrl } = webhook;
  const isEdited = useHasDraft(EDITED);
  const title = webhook.name ?? targetUrl;
  return (
    <Page
      title={title}
      tab={`${title} – Subscriptions`}
      crumb={
        <Link href="/subscriptions" className="crumb">
          Subscriptions
        </Link>
      }
      state={<Pill tone={tone}>{word}</Pill>}
      actions={<Actions shown={shown} needsAttention={needsAttention} />}
    >
      <p className={tab === 'settings' ? 'about on-wide' : 'about'}>
        <bdi className="mono">{targetUrl}</bdi>
        <span>
          {event} · {resource.replaceAll(',', ', ')}
        </span>
        {applicationId === undefined ? (
          <span>whole account</span>
        ) : (
          <Link href={`/applications/${applicationId}`}>
            <ApplicationName id={applicationId} />
          </Link>
        )}
        <span className="on-wide">
          since <Day at={webhook.createdAt} />
        </span>
        <span className="on-wide">id {id}</span>
      </p>
      {isNew && <MissedBefore subscription={webhook} />}
      <HealthSection subscription={webhook} />
      <nav className="tabs" aria-label="Parts of the subscription">
        {Object.entries(TABS).map(([name, text]) => (
          <Link
            key={name}
            href={name === 'activity' ? `/subscriptions/${id}` : `/subscriptions/${id}?tab=${name}`}
            aria-current={name === tab ? 'page' : undefined}
          >
            {text}
            {name === 'settings' && isEdited && (
              <span className="unsaved" title="Changes that are not saved">
                <span className="hidden"> (not saved yet)</span>
              </span>
            )}
          </Link>
        ))}
      </nav>
      <Part tab={tab} shown={shown} />
    </Page>
  );
}

function Part({ tab, shown }: { tab: TabName; shown: Shown }) {
  const { webhook } = shown;
  const update = useUpdateSubscription(webhook.id);
  switch (tab) {
    case 'activity':
      return (
        <SubscriptionStatistics webhookId={webhook.id}>
          <LatestDeliveries webhookId={webhook.id} />
        </SubscriptionStatistics>
      );
    case 'settings':
      return (
        <SettingsSection<SubscriptionValues>
          what="this subscription"
          labels={FORM_LABELS}
          now={{ values: subscriptionValues(webhook, shown.text), version: shown.version }}
          update={update}
          check={faultsIn}
        >
          {(fields) => <SubscriptionFields {...fields} />}
        </SettingsSection>
      );
    case 'secret':
      // Another kind of key replaces the secret.
      return (
        <SecretSection
          key={webhook.publicKey === undefined ? 'hmac' : 'ed25519'}
          subscription={webhook}
        />
      );
    case 'receiver':
      return <ReceiverSection signature={webhook.signature ?? 'hmac-sha256'} />;
  }
}

/** The actions on the whole subscription: buttons, and commands in the palette. */
function Actions({
  shown: { webhook, version },
  needsAttention,
}: {
  shown: Shown;
  needsAttention: boolean;
}) {
  const { id, enabled, paused = false, disabledReason } = webhook;
  const [asked, setAsked] = useState<'off' | 'delete'>();
  const [, navigate] = useLocation();
  const test = useTest(id);
  const pause = usePause(id);
  const power = useSwitch(id, version);

  const sendTest = () =>
    test.mutate(undefined, { onSuccess: (made) => navigate(`/deliveries/${idOf(made)}`) });
  const switchOn = () =>
    power.mutate(true, { onError: (error) => showToast(sentenceOf(error), 'bad') });
  const main = enabled
    ? { name: 'Send test', Icon: Send, run: sendTest, isDisabled: test.isPending }
    : { name: 'Switch on', Icon: Power, run: switchOn, isDisabled: power.isPending };
  const second = paused
    ? { name: 'Resume', run: () => pause.mutate(false), isDisabled: pause.isPending }
    : { name: 'Pause', run: () => pause.mutate(true), isDisabled: pause.isPending };
  // A failing subscription has this button in its callout.
  const isTestInCallout = enabled && needsAttention;
  const rare = [
    ...(enabled ? [{ name: 'Switch off', run: () => setAsked('off') }] : []),
    { name: 'Delete', run: () => setAsked('delete'), isDangerous: true },
  ];
  useCommands(
    [main, ...(enabled ? [second] : []), ...rare].map(({ name, run }) => {
      const to = name === 'Send test' ? ' to' : '';
      return { name: `${name}${to} this subscription`, group: 'Actions', run };
    }),
  );
  return (
    <>
      {enabled && (
        <button type="button" disabled={second.isDisabled} onClick={second.run}>
          {second.name}
        </button>
      )}
      <Menu label="More actions" items={isTestInCallout ? [main, ...rare] : rare} />
      {!isTestInCallout && (
        <button
          type="button"
          // If the service switched it off, the callout has the next step.
          className={disabledReason === undefined ? 'primary' : undefined}
          disabled={main.isDisabled}
          onClick={main.run}
        >
          <main.Icon size={15} aria-hidden /> {main.name}
        </button>
      )}
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
            Waiting notifications are cancelled, and new events are not kept for it. To keep them,
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
      <p>Its waiting notifications are cancelled. This cannot be undone.</p>
    </Confirm>
  );
}
