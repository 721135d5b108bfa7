import { type SubmitEvent, useState } from 'react';
import { faultsOf, otherProblem } from '../../app/api.js';
import { useEditing } from '../../app/editing.js';
import { useFaultFocus } from '../../app/fault-focus.js';
import { Conflict } from '../../components/conflict.js';
import { SubscriptionFields } from './fields.js';
import { type Shown, useUpdateSubscription } from './subscription.queries.js';
import {
  faultsIn,
  SUBSCRIPTION_LABELS,
  type SubscriptionValues,
  subscriptionValues,
} from './values.js';

/** Names of fields of the API that the form has. */
export const FORM_FIELDS: readonly string[] = [...Object.keys(SUBSCRIPTION_LABELS), 'retry'];

/** The settings of a subscription, as a form. */
export function SettingsSection({ shown: { webhook, text, version } }: { shown: Shown }) {
  const values = subscriptionValues(webhook, text);
  const form = useEditing<SubscriptionValues>({ values, version });
  const update = useUpdateSubscription(webhook.id);
  const [own, setOwn] = useState<Record<string, string>>({});

  const element = useFaultFocus(update.error, own);

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    const found = faultsIn(form.values);
    setOwn(found);
    if (Object.keys(found).length > 0) return;
    update.mutate({ values: form.values, base: form.base }, { onSuccess: form.saved });
  }

  const { changedByOthers } = form;
  const labels = SUBSCRIPTION_LABELS as Record<string, string>;
  return (
    <section aria-labelledby="settings">
      <h2 id="settings">Settings</h2>
      <form ref={element} className="settings" onSubmit={submit} noValidate>
        <SubscriptionFields
          values={form.values}
          faults={{ ...faultsOf(update.error), ...own }}
          onChange={form.change}
        />
        {changedByOthers && !update.isPending ? (
          <Conflict
            what="this subscription"
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
            {form.isDirty && otherProblem(update.error, FORM_FIELDS)}
          </p>
        )}
        <button type="submit" className="primary" disabled={!form.isDirty || update.isPending}>
          Save
        </button>
      </form>
    </section>
  );
}
