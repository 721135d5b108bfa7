import { FormDialog } from '../../app/form-dialog.js';
import { Field } from '../../components/field.js';
import { timeOfInput } from '../../components/filter-values.js';
import type { Credential, useAccountChanges } from './account.queries.js';

const LABELS = { name: 'Name', scope: 'Scope', password: 'Password', expiresAt: 'Expires' };

/** The form for a new credential. */
export function NewCredential({
  add,
  onClose,
}: Pick<ReturnType<typeof useAccountChanges>, 'add'> & { onClose: () => void }) {
  function submit(text: (name: string) => string, done: () => void): void {
    const password = text('password');
    const expiresAt = timeOfInput(text('expiresAt'));
    const name = text('name').trim();
    const fields = {
      ...(name !== '' && { name }),
      scope: text('scope') as Credential['scope'],
      ...(password !== '' && { password }),
      ...(expiresAt !== '' && { expiresAt }),
    };
    add.mutate(fields, { onSuccess: done });
  }
  return (
    <FormDialog
      label="New credential"
      action="Add"
      labels={LABELS}
      made={add}
      onSubmit={submit}
      onClose={onClose}
    >
      {(faults) => (
        <>
          <Field
            label={LABELS.name}
            hint="Such as the program that uses it. You may leave it empty."
            error={faults['name']}
          >
            <input name="name" autoComplete="off" maxLength={100} autoFocus />
          </Field>
          <Field
            label={LABELS.scope}
            hint="manage: everything that its user may do. read: only reading, and no signing secrets."
            error={faults['scope']}
          >
            <select name="scope" defaultValue="manage">
              <option>manage</option>
              <option>read</option>
            </select>
          </Field>
          <Field
            label={LABELS.password}
            hint="8 to 200 characters. Leave it empty to have one generated."
            error={faults['password']}
          >
            <input name="password" type="password" autoComplete="new-password" />
          </Field>
          <Field
            label={LABELS.expiresAt}
            hint="In your time zone. Leave it empty for no expiry."
            error={faults['expiresAt']}
          >
            <input name="expiresAt" type="datetime-local" step="1" />
          </Field>
        </>
      )}
    </FormDialog>
  );
}
