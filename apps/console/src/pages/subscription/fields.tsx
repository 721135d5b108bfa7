import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useCustomer } from '../../app/account.js';
import { faultAt } from '../../app/faults.js';
import { isOperator } from '../../app/session-state.js';
import { useUser } from '../../app/session.js';
import { CheckField, Field } from '../../components/field.js';
import { Folded, FormGroup } from '../../components/form.js';
import { EVENT_KINDS, isNotice } from '../subscriptions/event-kinds.js';
import { FilterField } from './filter-field.js';
import { filterText } from './filter-rows.js';
import { defaultsQuery } from './form.queries.js';
import { ResourceChoices } from './resource-choices.js';
import {
  headersText,
  paceText,
  payloadText,
  retriesText,
  SIGNATURES,
  SUBSCRIPTION_LABELS as LABELS,
  type SubscriptionValues,
  TICKED,
} from './values.js';

/** The inputs of a subscription, with their faults. */
export function SubscriptionFields({
  values,
  faults = {},
  onChange = () => undefined,
  application,
  preview,
}: {
  values: SubscriptionValues;
  faults?: Record<string, string>;
  onChange?: (some: Partial<SubscriptionValues>) => void;
  /** The choice of the application, if it is offered. */
  application?: ReactNode;
  /** What the filter matches. */
  preview?: ReactNode;
}) {
  const retry = useQuery(defaultsQuery).data?.retry;
  const isOwnOfOperator = isOperator(useUser().role) && useCustomer() === undefined;
  const faultOf = (name: string) => faultAt(faults, name);
  const isWrong = (...names: string[]) => names.some((name) => faultOf(name) !== undefined);
  const textOf = (name: keyof SubscriptionValues) => ({
    value: values[name],
    autoComplete: 'off',
    spellCheck: false,
    onChange: ({ target }: { target: { value: string } }) => onChange({ [name]: target.value }),
  });
  return (
    <>
      <FormGroup title="What">
        {application}
        <Field label={LABELS.event} error={faultOf('event')}>
          <select {...textOf('event')}>
            {Object.entries(EVENT_KINDS).map(([kind, meaning]) => (
              <option key={kind} value={kind}>
                {kind}: {meaning}
              </option>
            ))}
          </select>
        </Field>
        {(values.accounts !== '' || (isOwnOfOperator && isNotice(values.event))) && (
          <CheckField
            label={LABELS.accounts}
            hint="Notifies you of the subscriptions of every account, not only your own."
            error={faultOf('accounts')}
            isTicked={values.accounts !== ''}
            onChange={(isTicked) => onChange({ accounts: isTicked ? 'all' : '' })}
          />
        )}
        <ResourceChoices
          label={LABELS.resource}
          value={values.resource}
          error={faultOf('resource')}
          onChange={(resource) => onChange({ resource })}
        />
        <Folded
          title={LABELS.filter}
          summary={filterText(values.filter)}
          isWrong={isWrong('filter')}
        >
          <FilterField
            event={preview ? values.event : undefined}
            value={values.filter}
            faults={faults}
            onChange={(filter) => onChange({ filter })}
          >
            {preview}
          </FilterField>
        </Folded>
      </FormGroup>
      <FormGroup title="Where">
        <Field
          label={LABELS.targetUrl}
          hint="Your server’s address. A user name and password in it are sent as Basic authentication, and shown as ***."
          error={faultOf('targetUrl')}
        >
          <input {...textOf('targetUrl')} inputMode="url" placeholder="https://example.com/hooks" />
        </Field>
        <Field
          label={LABELS.name}
          hint="Optional. It also appears in the notifications."
          error={faultOf('name')}
        >
          <input {...textOf('name')} />
        </Field>
      </FormGroup>
      <FormGroup title="How">
        <Folded
          title={LABELS.signature}
          summary={SIGNATURES[values.signature] ?? values.signature}
          isWrong={isWrong('signature')}
        >
          <Field
            label={LABELS.signature}
            hint="With HMAC-SHA256, your server knows the secret. With Ed25519, it needs only a public key. After a change, both keys are valid for 24 hours."
            error={faultOf('signature')}
          >
            <select {...textOf('signature')}>
              {Object.entries(SIGNATURES).map(([signature, name]) => (
                <option key={signature} value={signature}>
                  {name}
                </option>
              ))}
            </select>
          </Field>
        </Folded>
        <Folded title={LABELS.headers} summary={headersText(values)} isWrong={isWrong('headers')}>
          <Field
            label={LABELS.headers}
            hint="Sent with every notification, one on each line, for example X-Api-Key: f2c1a0b9. A value shown as *** is kept."
            error={faultOf('headers')}
          >
            <textarea {...textOf('headers')} />
          </Field>
        </Folded>
        <Folded
          title="Retries and timeout"
          summary={retriesText(values, retry)}
          isWrong={isWrong('retry')}
        >
          <Field
            label={LABELS.schedule}
            hint="The seconds before each retry, for example 10, 60, 600. Leave it empty for the default schedule, or write none for a single attempt."
            error={faultOf('retry/schedule') ?? faults['retry']}
          >
            <input {...textOf('schedule')} placeholder={retry?.schedule.join(', ')} />
          </Field>
          <Field
            label={LABELS.timeoutMs}
            hint="How many milliseconds your server has to answer. Leave it empty for the default."
            error={faultOf('retry/timeoutMs')}
          >
            <input
              {...textOf('timeoutMs')}
              inputMode="numeric"
              placeholder={retry && String(retry.timeoutMs)}
            />
          </Field>
        </Folded>
        <Folded
          title="Pace"
          summary={paceText(values)}
          isWrong={isWrong('maxPerSecond', 'maxConcurrent', 'ordered')}
        >
          <Field
            label={LABELS.maxPerSecond}
            hint="At most this many are sent in a second, from 1 to 1,000. The others wait. Leave it empty for no limit."
            error={faultOf('maxPerSecond')}
          >
            <input {...textOf('maxPerSecond')} inputMode="numeric" />
          </Field>
          <Field
            label={LABELS.maxConcurrent}
            hint="At most this many calls to your server are in flight at the same time. The others wait. Leave it empty for no limit."
            error={faultOf('maxConcurrent')}
          >
            <input {...textOf('maxConcurrent')} inputMode="numeric" />
          </Field>
          <CheckField
            label={LABELS.ordered}
            hint="Notifications arrive in the order of their events. One that fails holds those behind it until it succeeds or has no retries left. Sending a later one now breaks the order."
            error={faultOf('ordered')}
            isTicked={values.ordered === TICKED}
            onChange={(isTicked) => onChange({ ordered: isTicked ? TICKED : '' })}
          />
        </Folded>
        <Folded title={LABELS.payload} summary={payloadText(values)} isWrong={isWrong('payload')}>
          <Field
            label={LABELS.payload}
            hint='A JSON object that goes into every notification exactly as you write it, for example {"order": 4711}.'
            error={faultOf('payload')}
          >
            <textarea {...textOf('payload')} />
          </Field>
        </Folded>
      </FormGroup>
    </>
  );
}
