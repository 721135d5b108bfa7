import { useState } from 'react';
import { faultAt } from '../../app/faults.js';
import { Field } from '../../components/field.js';
import { EVENT_KINDS } from '../subscriptions/event-kinds.js';
import { ResourceChoices } from './resource-choices.js';
import {
  NEW_SUBSCRIPTION,
  SUBSCRIPTION_LABELS as LABELS,
  type SubscriptionValues,
} from './values.js';

/** The inputs of a subscription, with what is wrong beside them. */
export function SubscriptionFields({
  values,
  faults,
  onChange,
}: {
  values: SubscriptionValues;
  faults: Record<string, string>;
  onChange: (some: Partial<SubscriptionValues>) => void;
}) {
  const faultOf = (name: string) => faultAt(faults, name);
  const textOf = (name: keyof SubscriptionValues) => ({
    value: values[name],
    autoComplete: 'off',
    spellCheck: false,
    onChange: ({ target }: { target: { value: string } }) => onChange({ [name]: target.value }),
  });
  const isWrong = FOLDED.some((name) => faultOf(name) !== undefined);
  const [isOpen, setIsOpen] = useState(isMoreSet(values));
  return (
    <>
      <Field
        label={LABELS.name}
        hint="For people; it goes into the notifications, too."
        error={faultOf('name')}
      >
        <input {...textOf('name')} />
      </Field>
      <Field label={LABELS.event} error={faultOf('event')}>
        <select {...textOf('event')}>
          {Object.entries(EVENT_KINDS).map(([kind, meaning]) => (
            <option key={kind} value={kind}>
              {kind}: {meaning}
            </option>
          ))}
        </select>
      </Field>
      <ResourceChoices
        label={LABELS.resource}
        value={values.resource}
        error={faultOf('resource')}
        onChange={(resource) => onChange({ resource })}
      />
      <Field
        label={LABELS.targetUrl}
        hint="Where notifications are posted to. A user and a password in it are sent as Basic, and shown as ***."
        error={faultOf('targetUrl')}
      >
        <input {...textOf('targetUrl')} inputMode="url" placeholder="https://" />
      </Field>
      <details
        open={isOpen || isWrong}
        onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
      >
        <summary>More: headers, payload, retries, signature</summary>
        <Field
          label={LABELS.headers}
          hint="Sent with every notification: one on each line, such as X-Api-Key: f2c1a0b9. A value that is shown as *** stays as it is."
          error={faultOf('headers')}
        >
          <textarea {...textOf('headers')} />
        </Field>
        <Field
          label={LABELS.payload}
          hint='A JSON object that goes into the notifications as it stands here, such as {"order": 4711}.'
          error={faultOf('payload')}
        >
          <textarea {...textOf('payload')} />
        </Field>
        <Field
          label={LABELS.schedule}
          hint="Seconds before each retry, such as 10, 60, 600. Empty: the usual schedule. none: a single attempt."
          error={faultOf('retry/schedule') ?? faults['retry']}
        >
          <input {...textOf('schedule')} />
        </Field>
        <Field
          label={LABELS.timeoutMs}
          hint="How long your answer may take, in ms. Empty: the usual time."
          error={faultOf('retry/timeoutMs')}
        >
          <input {...textOf('timeoutMs')} inputMode="numeric" />
        </Field>
        <Field
          label={LABELS.signature}
          hint="With hmac-sha256, your server knows the secret. With ed25519, it only needs a public key. After a change, the old key signs beside the new one for 24 hours."
          error={faultOf('signature')}
        >
          <select {...textOf('signature')}>
            <option>hmac-sha256</option>
            <option>ed25519</option>
          </select>
        </Field>
      </details>
    </>
  );
}

/** What is folded away at first, as the API names it. */
const FOLDED = ['headers', 'payload', 'retry', 'signature'];

function isMoreSet({
  headers,
  payload,
  schedule,
  timeoutMs,
  signature,
}: SubscriptionValues): boolean {
  const isSet = [headers, payload, schedule, timeoutMs].some((text) => text !== '');
  return isSet || signature !== NEW_SUBSCRIPTION.signature;
}
