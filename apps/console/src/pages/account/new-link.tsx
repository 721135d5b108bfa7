import { FormDialog } from '../../app/form-dialog.js';
import { Field } from '../../components/field.js';
import type { Credential, useAccountChanges } from './account.queries.js';

const LABELS = { scope: 'Scope', expiresIn: 'Valid for' };

/** How long a link may be valid, in seconds. */
const TIMES = { 600: '10 minutes', 3600: '1 hour' } as const;

/** The form for a link that opens the console as a user. */
export function NewLink({
  link,
  onClose,
}: Pick<ReturnType<typeof useAccountChanges>, 'link'> & { onClose: () => void }) {
  function submit(text: (name: string) => string, done: () => void): void {
    const fields = {
      scope: text('scope') as Credential['scope'],
      expiresIn: Number(text('expiresIn')),
    };
    link.mutate(fields, { onSuccess: done });
  }
  return (
    <FormDialog
      label="New link"
      action="Create"
      labels={LABELS}
      made={link}
      onSubmit={submit}
      onClose={onClose}
    >
      {(faults) => (
        <>
          <Field
            label={LABELS.scope}
            hint="read: only reading, and no signing secrets. manage: everything that the user may do."
            error={faults['scope']}
          >
            <select name="scope" defaultValue="read" autoFocus>
              <option>read</option>
              <option>manage</option>
            </select>
          </Field>
          <Field
            label={LABELS.expiresIn}
            hint="The link can be opened once. Its session ends when this time is over."
            error={faults['expiresIn']}
          >
            <select name="expiresIn" defaultValue="600">
              {Object.entries(TIMES).map(([seconds, name]) => (
                <option key={seconds} value={seconds}>
                  {name}
                </option>
              ))}
            </select>
          </Field>
        </>
      )}
    </FormDialog>
  );
}
