import { type ReactNode, useEffect, useRef } from 'react';

/**
 * A modal dialog, open while it is mounted. Escape and a click outside close it; the browser then returns the focus.
 */
export function Dialog({
  label,
  className,
  onClose,
  children,
}: {
  label: string;
  className?: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Pressing Escape twice makes the browser close it without asking, even if the caller keeps it mounted.
  useEffect(() => {
    if (!dialog.current?.open) dialog.current?.showModal();
  });
  useEffect(() => {
    const element = dialog.current;
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={label}
      className={className}
      onClose={() => {
        if (!dialog.current?.open) onClose();
      }}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={({ target }) => target === dialog.current && onClose()}
    >
      <div className="inside">{children}</div>
    </dialog>
  );
}
