import type { SubmitEvent } from 'react';
import { faultsOf, sentenceOf } from '../../app/api.js';
import { Dialog } from '../../components/dialog.js';
import { Field } from '../../components/field.js';
import type { Role } from './accounts.queries.js';

/** The form for a new user. */
export function NewAccount({
  error,
  isPending,
  onSubmit,
  onClose,
}: {
  /** Why the API refused it. */
  error: Error | null;
  isPending: boolean;
  onSubmit: (user: { username: string; role: Role; password?: string }) => void;
  onClose: () => void;
}) {
  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => form.get(name) as string;
    const password = text('password');
    onSubmit({
      username: text('username').trim(),
      role: text('role') as Role,
      ...(password !== '' && { password }),
    });
  }

  const faults = faultsOf(error);
  const isOther = error && Object.keys(faults).length === 0;
  return (
    <Dialog label="New account" onClose={onClose}>
      <h2>New account</h2>
      <form onSubmit={submit} noValidate>
        <Field
          label="Username"
          hint="A letter, and up to 63 more letters, digits or . _ @ -"
          error={faults['username']}
        >
          <input name="username" autoFocus autoComplete="off" spellCheck={false} />
        </Field>
        <Field
          label="Role"
          hint="The platform reports events, and manages accounts."
          error={faults['role']}
        >
          <select name="role" defaultValue="account">
            <option>account</option>
            <option>platform</option>
          </select>
        </Field>
        <Field
          label="Password"
          hint="8 to 200 characters. Leave it empty to have one generated."
          error={faults['password']}
        >
          <input name="password" type="password" autoComplete="new-password" />
        </Field>
        <p className="problem" role="alert">
          {isOther && sentenceOf(error)}
        </p>
        <div className="tools">
          <button type="submit" className="primary" disabled={isPending}>
            Create
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
