import type { UseMutationResult } from '@tanstack/react-query';
import { Save } from 'lucide-react';
import { type ReactNode, type SubmitEvent, useState } from 'react';
import { Conflict } from '../components/conflict.js';
import { FormFoot } from '../components/form.js';
import { faultsOf, otherProblem } from './api.js';
import { type Edited, type Texts, useEditing } from './editing.js';
import { useFaultFocus } from './fault-focus.js';

/** A form about a resource that others may change at the same time. */
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
  /** Labels of the fields, by the API's names. */
  labels: Readonly<Record<string, string>>;
  now: Edited<Values>;
  /** Saves, and resolves to the new version. */
  update: UseMutationResult<string, Error, { values: Values; base: Edited<Values> }>;
  /** Finds faults before sending. */
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
    const { values, base } = form;
    const found = check?.(values) ?? {};
    setOwn(found);
    if (Object.keys(found).length > 0) return;
    // Resolves even if the user leaves the form; `update.error` holds a refusal.
    update.mutateAsync({ values, base }).then(
      (version) => form.saved(values, version),
      () => undefined,
    );
  }

  function discard(): void {
    form.discard();
    setOwn({});
    update.reset();
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
          faults: { ...faultsOf(update.error, labels), ...own },
          onChange: form.change,
        })}
        <FormFoot
          action="Save"
          icon={<Save size={15} aria-hidden />}
          isDisabled={!form.isDirty || update.isPending}
          problem={form.isDirty && otherProblem(update.error, Object.keys(labels))}
          onDiscard={form.isDirty ? discard : undefined}
          decision={
            changedByOthers &&
            !update.isPending && (
              <Conflict
                what={what}
                fields={changedByOthers.map((name) => labels[name] ?? name)}
                onKeep={() => {
                  form.rebase();
                  update.reset();
                }}
                onDiscard={discard}
              />
            )
          }
        />
      </form>
    </section>
  );
}
