import { type ReactNode, useEffect, useRef } from 'react';
import { CopyButton } from './copy-button.js';
import { Notice } from './notice.js';

/** Shows the generated password of a new account or credential until it is closed. It takes the focus. */
export function PasswordOnce({
  password,
  onDone,
  children,
}: {
  /** Absent if the user chose the password. */
  password: string | undefined;
  onDone: () => void;
  children: ReactNode;
}) {
  const notice = useRef<HTMLDivElement>(null);
  useEffect(() => notice.current?.focus(), []);
  return (
    <div ref={notice} tabIndex={-1} className="password-once" role="status">
      <Notice tone="good">
        <p>{children}</p>
        {password !== undefined && (
          <p>
            Its password is <code>{password}</code>. Copy it now: it is not shown again.
          </p>
        )}
        <div className="tools">
          {password !== undefined && <CopyButton label="Copy the password" text={password} />}
          <button type="button" onClick={onDone}>
            Done
          </button>
        </div>
      </Notice>
    </div>
  );
}
