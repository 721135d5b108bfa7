import type { ReactNode } from 'react';
import { Dialog } from '../components/dialog.js';
import { faultsOf, sentenceOf } from './api.js';

/** A dialog that makes something. */
export function FormDialog({
  label,
  action,
  made: { error, isPending },
  onSubmit,
  onClose,
  children,
}: {
  label: string;
  /** What the button says. */
  action: string;
  /** The request, and why the API refused it. */
  made: { error: Error | null; isPending: boolean };
  /** Gets the text of an input by its name. */
  onSubmit: (text: (name: string) => string) => void;
  onClose: () => void;
  /** The inputs. */
  children: (faults: Record<string, string>) => ReactNode;
}) {
  const faults = faultsOf(error);
  const isOther = error && Object.keys(faults).length === 0;
  return (
    <Dialog label={label} onClose={onClose}>
      <h2>{label}</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          onSubmit((name) => form.get(name) as string);
        }}
        noValidate
      >
        {children(faults)}
        <p className="problem" role="alert">
          {isOther && sentenceOf(error)}
        </p>
        <div className="tools">
          <button type="submit" className="primary" disabled={isPending}>
            {action}
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
