import type { SubmitEvent } from 'react';
import { faultsOf, sentenceOf } from '../../app/api.js';
import { Dialog } from '../../components/dialog.js';
import { Field } from '../../components/field.js';
import { timeOfInput } from '../../components/filter-values.js';

/** The form for a new credential. */
export function NewCredential({
  error,
  isPending,
  onSubmit,
  onClose,
}: {
  /** Why the API refused it. */
  error: Error | null;
  isPending: boolean;
  onSubmit: (fields: { password?: string; expiresAt?: string }) => void;
  onClose: () => void;
}) {
  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const password = form.get('password') as string;
    const expiresAt = timeOfInput(form.get('expiresAt') as string);
    onSubmit({ ...(password !== '' && { password }), ...(expiresAt !== '' && { expiresAt }) });
  }

  const faults = faultsOf(error);
  const isOther = error && Object.keys(faults).length === 0;
  return (
    <Dialog label="New credential" onClose={onClose}>
      <h2>New credential</h2>
      <form onSubmit={submit} noValidate>
        <Field
          label="Password"
          hint="8 to 200 characters. Leave it empty to have one generated."
          error={faults['password']}
        >
          <input name="password" type="password" autoComplete="new-password" autoFocus />
        </Field>
        <Field
          label="Expires"
          hint="In your time zone. Leave it empty if it never does."
          error={faults['expiresAt']}
        >
          <input name="expiresAt" type="datetime-local" step="1" />
        </Field>
        <p className="problem" role="alert">
          {isOther && sentenceOf(error)}
        </p>
        <div className="tools">
          <button type="submit" className="primary" disabled={isPending}>
            Add
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
