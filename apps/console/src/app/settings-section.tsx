import type { UseMutationResult } from '@tanstack/react-query';
import { type ReactNode, type SubmitEvent, useState } from 'react';
import { Conflict } from '../components/conflict.js';
import { faultsOf, otherProblem } from './api.js';
import { type Edited, type Texts, useEditing } from './editing.js';
import { useFaultFocus } from './fault-focus.js';

/** A form about something that others may change meanwhile. */
export function SettingsSection<Values extends Texts>({
  what,
  labels,
  now,
  update,
  check,
  children,
}: {
  /** `this application` */
  what: string;
  /** Of the fields, as the API names them. */
  labels: Readonly<Record<string, string>>;
  now: Edited<Values>;
  /** Saves. It resolves to the new version. */
  update: UseMutationResult<string, Error, { values: Values; base: Edited<Values> }>;
  /** Finds faults before anything is sent. */
  check?: (values: Values) => Record<string, string>;
  /** The inputs. */
  children: (fields: {
    values: Values;
    faults: Record<string, string>;
    onChange: (some: Partial<Values>) => void;
  }) => ReactNode;
}) {
  const form = useEditing(now);
  const [own, setOwn] = useState<Record<string, string>>({});
  const element = useFaultFocus(update.error, own);

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    const found = check?.(form.values) ?? {};
    setOwn(found);
    if (Object.keys(found).length > 0) return;
    update.mutate({ values: form.values, base: form.base }, { onSuccess: form.saved });
  }

  const { changedByOthers } = form;
  return (
    <section aria-labelledby="settings">
      <h2 id="settings" className="hidden">
        Settings
      </h2>
      <form ref={element} className="settings" onSubmit={submit} noValidate>
        {children({
          values: form.values,
          faults: { ...faultsOf(update.error), ...own },
          onChange: form.change,
        })}
        {changedByOthers && !update.isPending ? (
          <Conflict
            what={what}
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
