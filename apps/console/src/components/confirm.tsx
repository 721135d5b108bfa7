import type { ReactNode } from 'react';
import { Dialog } from './dialog.js';

/** Asks before something that cannot be undone, and says what will happen. */
export function Confirm({
  label,
  action,
  refusal = 'Cancel',
  isBusy,
  error,
  onConfirm,
  onClose,
  children,
}: {
  label: string;
  /** The button's text. */
  action: string;
  /** The text of the button that changes nothing. */
  refusal?: string;
  isBusy: boolean;
  /** Why the last try failed. */
  error?: string | undefined;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Dialog label={label} onClose={onClose}>
      <p className="strong">{label}</p>
      {children}
      <p className="problem" role="alert">
        {error}
      </p>
      <div className="tools">
        <button type="button" autoFocus onClick={onClose}>
          {refusal}
        </button>
        <button type="button" className="primary" disabled={isBusy} onClick={onConfirm}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
