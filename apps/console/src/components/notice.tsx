import type { ReactNode } from 'react';

/** How good something is; sets its colour. */
export type Tone = 'good' | 'bad' | 'waiting' | 'neutral';

/** A highlighted sentence. */
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
  /** Details, on hover. */
  title?: string | undefined;
  children: ReactNode;
}) {
  return (
    <span className={`pill ${tone}`} title={title}>
      {children}
    </span>
  );
}

/** Replaces a list in which nothing matches. */
export const NO_MATCH = (
  <EmptyState title="Nothing matches these filters.">
    <p>Change or remove one of them.</p>
  </EmptyState>
);

/** Replaces an empty list: says why it is empty, and what to do next. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="title">{title}</p>
      {children}
    </div>
  );
}
