import type { ReactNode } from 'react';
import type { Tone } from './notice.js';

/** A point of a time line; its content is unfolded on demand. */
export interface Moment {
  key: string | number;
  tone: Tone;
  summary: ReactNode;
  content?: ReactNode;
  isOpen?: boolean;
}

/** What happened, in order. */
export function TimeLine({ label, moments }: { label: string; moments: readonly Moment[] }) {
  return (
    <ol className="time-line" aria-label={label}>
      {moments.map(({ key, tone, summary, content, isOpen }) => (
        <li key={key} className={tone}>
          {content === undefined ? (
            <div className="summary">{summary}</div>
          ) : (
            <details open={isOpen}>
              <summary>{summary}</summary>
              {content}
            </details>
          )}
        </li>
      ))}
    </ol>
  );
}
