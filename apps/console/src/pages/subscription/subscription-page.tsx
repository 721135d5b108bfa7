import './subscription.css';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import { useCustomer, useMayChangeShown, useSameAccount } from '../../app/account.js';
import { useHasDraft } from '../../app/drafts.js';
import { EDITED } from '../../app/editing.js';
import { ApplicationName } from '../../app/names.js';
import { Unavailable } from '../../app/problem.js';
import { SettingsSection } from '../../app/settings-section.js';
import { ReadOnly } from '../../components/form.js';
import { Pill } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { Day } from '../../components/time.js';
import { SubscriptionStatistics } from '../overview/subscription-statistics.js';
import { Actions } from './actions.js';
import { SubscriptionFields } from './fields.js';
import { FilterPreview } from './filter-preview.js';
import { filterText, NO_FILTER } from './filter-rows.js';
import { type Disabled, useEnable } from './enable.queries.js';
import EnabledDialog from './enabled-dialog.js';
import { HealthSection } from './health-section.js';
import { LatestDeliveries } from './latest-deliveries.js';
import { MissedBefore, MissedWhileOff } from './missed-before.js';
import { ReceiverSection } from './receiver-section.js';
import { SecretSection } from './secret-section.js';
import { useUpdateSubscription } from './form.queries.js';
import { type Shown, subscriptionQuery } from './subscription.queries.js';
import { useConditions } from '../../states/use-conditions.js';
import {
  faultsIn,
  FORM_LABELS,
  NO_PACE,
  paceText,
  type SubscriptionValues,
  subscriptionValues,
} from './values.js';

/** One subscription: its health, settings and secret, a receiver for it, and its attempts. */
export default function SubscriptionPage({ params }: { params: Record<string, string> }) {
  const { data, error } = useQuery(subscriptionQuery(params['id'] ?? '', useCustomer()));
  const inAccount = useSameAccount();
  if (data) return <ShownPage shown={data} />;
  return (
    <Unavailable title="Subscription" error={error}>
      It may have been deleted, or belong to another account. Go to{' '}
      <Link href={inAccount('/subscriptions')}>all subscriptions</Link>.
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

/** The tabs that an operator has. */
const OF_CUSTOMER: readonly string[] = ['activity', 'settings'];
/** The tabs without a secret, for a session that may only read. */
const TO_READ: readonly string[] = [...OF_CUSTOMER, 'receiver'];

const isTab = (name: string | null): name is TabName => Object.hasOwn(TABS, name ?? '');

function ShownPage({ shown }: { shown: Shown }) {
  const { webhook } = shown;
  const customer = useCustomer();
  const inAccount = useSameAccount();
  const isOwn = customer === undefined;
  const mayChange = useMayChangeShown();
  const offered = mayChange ? Object.keys(TABS) : isOwn ? TO_READ : OF_CUSTOMER;
  const tabs = Object.entries(TABS).filter(([name]) => offered.includes(name));
  const isNew = useHistoryState<{ isNew?: true } | null>()?.isNew;
  const [enabled, setEnabled] = useState<Disabled>();
  const enable = useEnable(setEnabled);
  const [search] = useSearchParams();
  const named = search.get('tab');
  const tab = isTab(named) && offered.includes(named) ? named : 'activity';
  const conditions = useConditions(webhook);
  const [{ tone, word, api }] = conditions;
  const { id, applicationId, event, resource, targetUrl } = webhook;
  const isEdited = useHasDraft(EDITED);
  const values = subscriptionValues(webhook, shown.text);
  const filter = filterText(values.filter);
  const pace = paceText(values);
  const onEnable = () => enable.mutate({ id, disabledAt: webhook.disabledAt ?? webhook.updatedAt });
  const title = webhook.name ?? targetUrl;
  return (
    <Page
      title={title}
      tab={`${title} – Subscriptions`}
      crumb={
        <Link href={inAccount('/subscriptions')} className="crumb">
          Subscriptions
        </Link>
      }
      state={
        <Pill tone={tone} title={api}>
          {word}
        </Pill>
      }
      actions={
        mayChange && (
          <Actions
            shown={shown}
            isFailing={conditions.some(
              ({ needsAttention, step }) => needsAttention && step === 'test',
            )}
            onEnable={onEnable}
          />
        )
      }
    >
      <p className={tab === 'settings' ? 'about on-wide' : 'about'}>
        <bdi className="mono">{targetUrl}</bdi>
        <span>
          {event} · {resource.replaceAll(',', ', ')}
        </span>
        {filter !== NO_FILTER && <span>{filter}</span>}
        {pace !== NO_PACE && <span>{pace}</span>}
        {applicationId === undefined ? (
          <span>{webhook.accounts === undefined ? 'whole account' : 'all accounts'}</span>
        ) : (
          <Link href={inAccount(`/applications/${applicationId}`)}>
            <ApplicationName id={applicationId} />
          </Link>
        )}
        <span className="on-wide">
          since <Day at={webhook.createdAt} />
        </span>
        <span className="on-wide">id {id}</span>
      </p>
      {isNew && <MissedBefore id={id} />}
      {isOwn && webhook.enabled && <MissedWhileOff id={id} />}
      <HealthSection subscription={webhook} onEnable={onEnable} />
      {enabled && <EnabledDialog of={enabled} onClose={() => setEnabled(undefined)} />}
      <nav className="tabs" aria-label="Parts of the subscription">
        {tabs.map(([name, text]) => (
          <Link
            key={name}
            href={inAccount(`/subscriptions/${id}${name === 'activity' ? '' : `?tab=${name}`}`)}
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
      {tab === 'settings' && !mayChange ? (
        <ReadOnly>
          <SubscriptionFields values={values} />
        </ReadOnly>
      ) : (
        <Part tab={tab} shown={shown} />
      )}
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
          {(fields) => (
            <SubscriptionFields
              {...fields}
              preview={
                <FilterPreview applicationId={webhook.applicationId} values={fields.values} />
              }
            />
          )}
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
