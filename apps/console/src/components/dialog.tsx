import { type ReactNode, useEffect, useRef } from 'react';

/**
 * A modal dialog, open as long as it is shown. Escape and a click beside it close it; the browser gives the focus
 * back to where it was.
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
  // The browser closes it without asking when Escape is pressed twice, but it may be shown on.
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
