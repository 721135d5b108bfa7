import '../subscription/subscription.css';
import { idOf } from '#libs/client';
import { type SubmitEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { faultsOf, otherProblem } from '../../app/api.js';
import { useFaultFocus } from '../../app/fault-focus.js';
import { Page } from '../../components/page.js';
import { ApplicationFields } from './application-fields.js';
import { APPLICATION_LABELS, NEW_APPLICATION } from './application-values.js';
import { useCreateApplication } from './application.queries.js';

/** Makes an application. */
export default function NewApplicationPage() {
  const [values, setValues] = useState(NEW_APPLICATION);
  const [, navigate] = useLocation();
  const create = useCreateApplication();

  const element = useFaultFocus(create.error);

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    create.mutate(values, {
      onSuccess: (made) => navigate(`/applications/${idOf(made)}`),
    });
  }

  return (
    <Page title="New application">
      <form ref={element} className="settings" onSubmit={submit} noValidate>
        <ApplicationFields
          values={values}
          faults={faultsOf(create.error)}
          onChange={(some) => setValues({ ...values, ...some })}
        />
        <p className="problem" role="alert">
          {otherProblem(create.error, Object.keys(APPLICATION_LABELS))}
        </p>
        <button type="submit" className="primary" disabled={create.isPending}>
          Create
        </button>
      </form>
    </Page>
  );
}
