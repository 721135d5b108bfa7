import { Plus } from 'lucide-react';
import { idOf } from '#libs/client';
import type { SubmitEvent } from 'react';
import { useLocation } from 'wouter';
import { faultsOf, otherProblem } from '../../app/api.js';
import { useEditing } from '../../app/editing.js';
import { useFaultFocus } from '../../app/fault-focus.js';
import { FormFoot } from '../../components/form.js';
import { Page } from '../../components/page.js';
import { ApplicationFields } from './application-fields.js';
import { APPLICATION_LABELS, NEW_APPLICATION } from './application-values.js';
import { useCreateApplication } from './application.queries.js';

/** Creates an application. */
export default function NewApplicationPage() {
  const form = useEditing({ values: NEW_APPLICATION, version: '' });
  const [, navigate] = useLocation();
  const create = useCreateApplication();

  const element = useFaultFocus(create.error);

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    create.mutate(form.values, {
      onSuccess: (made) => {
        form.discard();
        navigate(`/applications/${idOf(made)}`);
      },
    });
  }

  function discard(): void {
    form.discard();
    create.reset();
  }

  return (
    <Page title="New application">
      <form ref={element} className="settings" onSubmit={submit} noValidate>
        <ApplicationFields
          values={form.values}
          faults={faultsOf(create.error, APPLICATION_LABELS)}
          onChange={form.change}
        />
        <FormFoot
          action="Create"
          icon={<Plus size={15} aria-hidden />}
          isDisabled={create.isPending}
          problem={otherProblem(create.error, Object.keys(APPLICATION_LABELS))}
          onDiscard={form.isDirty ? discard : undefined}
        />
      </form>
    </Page>
  );
}
