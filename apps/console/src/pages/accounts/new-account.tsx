import { FormDialog } from '../../app/form-dialog.js';
import { Field } from '../../components/field.js';
import type { Role, useCreateUser } from './accounts.queries.js';

/** The form for a new user. */
export function NewAccount({
  create,
  onClose,
}: {
  create: ReturnType<typeof useCreateUser>;
  onClose: () => void;
}) {
  function submit(text: (name: string) => string): void {
    const password = text('password');
    const user = {
      username: text('username').trim(),
      role: text('role') as Role,
      ...(password !== '' && { password }),
    };
    create.mutate(user, { onSuccess: onClose });
  }
  return (
    <FormDialog
      label="New account"
      action="Create"
      made={create}
      onSubmit={submit}
      onClose={onClose}
    >
      {(faults) => (
        <>
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
        </>
      )}
    </FormDialog>
  );
}
