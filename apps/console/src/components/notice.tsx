import type { ReactNode } from 'react';

/** How good something is: what its colour says beside its words. */
export type Tone = 'good' | 'bad' | 'waiting' | 'neutral';

/** A sentence that stands out. */
export function Notice({ tone, children }: { tone: Tone; children: ReactNode }) {
  return <div className={`notice ${tone}`}>{children}</div>;
}

/** A word for a state. */
export function Pill({
  tone,
  title,
  children,
}: {
  tone: Tone;
  /** More about it, on hover. */
  title?: string;
  children: ReactNode;
}) {
  return (
    <span className={`pill ${tone}`} title={title}>
      {children}
    </span>
  );
}

/** What stands in place of a list of which nothing matches. */
export const NO_MATCH = (
  <EmptyState title="Nothing matches these filters.">
    <p>Change or remove one of them.</p>
  </EmptyState>
);

/** What stands in place of an empty list: why it is empty, and what to do next. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="title">{title}</p>
      {children}
    </div>
  );
}
