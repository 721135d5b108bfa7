import { type ReactNode, useEffect, useRef } from 'react';
import { CopyButton } from './copy-button.js';
import { Notice } from './notice.js';

/** Shows the secret of something new, such as a generated password, until it is closed. It takes the focus. */
export function ShownOnce({
  name,
  secret,
  onDone,
  children,
}: {
  /** What the secret is, such as `password`. */
  name: string;
  /** Absent if the user chose it. */
  secret: string | undefined;
  onDone: () => void;
  children: ReactNode;
}) {
  const notice = useRef<HTMLDivElement>(null);
  useEffect(() => notice.current?.focus(), []);
  return (
    <div ref={notice} tabIndex={-1} className="shown-once" role="status">
      <Notice tone="good">
        <p>{children}</p>
        {secret !== undefined && (
          <p>
            The {name} is <code>{secret}</code>. Copy it now: it is not shown again.
          </p>
        )}
        <div className="tools">
          {secret !== undefined && <CopyButton label={`Copy the ${name}`} text={secret} />}
          <button type="button" onClick={onDone}>
            Done
          </button>
        </div>
      </Notice>
    </div>
  );
}
