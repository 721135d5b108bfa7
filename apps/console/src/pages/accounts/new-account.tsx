import { FormDialog } from '../../app/form-dialog.js';
import { useUser } from '../../app/session.js';
import { Field } from '../../components/field.js';
import type { Role, useCreateUser } from './accounts.queries.js';

const LABELS = { username: 'Username', role: 'Role', password: 'Password' };

/** The form for a new user. */
export function NewAccount({
  create,
  onClose,
}: {
  create: ReturnType<typeof useCreateUser>;
  onClose: () => void;
}) {
  const { role } = useUser();
  function submit(text: (name: string) => string, done: () => void): void {
    const password = text('password');
    const user = {
      username: text('username').trim(),
      role: text('role') as Role,
      ...(password !== '' && { password }),
    };
    create.mutate(user, { onSuccess: done });
  }
  return (
    <FormDialog
      label="New account"
      action="Create"
      labels={LABELS}
      made={create}
      onSubmit={submit}
      onClose={onClose}
    >
      {(faults) => (
        <>
          <Field
            label={LABELS.username}
            hint="A letter, and up to 63 more letters, digits or . _ @ -"
            error={faults['username']}
          >
            <input name="username" autoFocus autoComplete="off" spellCheck={false} />
          </Field>
          <Field
            label={LABELS.role}
            hint="account: a customer. reporter: reports events, and does nothing else. operator: sees all accounts, and manages them. platform: all of this."
            error={faults['role']}
          >
            <select name="role" defaultValue="account">
              <option>account</option>
              <option>reporter</option>
              <option>operator</option>
              {role === 'platform' && <option>platform</option>}
            </select>
          </Field>
          <Field
            label={LABELS.password}
            hint="8 to 200 characters. Leave it empty to have one generated."
            error={faults['password']}
          >
            <input name="password" type="password" autoComplete="new-password" />
          </Field>
        </>
      )}
    </FormDialog>
  );
}
