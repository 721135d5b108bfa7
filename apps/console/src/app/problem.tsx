import type { ReactNode } from 'react';
import { EmptyState } from '../components/notice.js';
import { Page } from '../components/page.js';
import { RefusedError, sentenceOf } from './api.js';

/** Describes an error, if there is one. */
export function Problem({
  error,
  children,
}: {
  error: Error | null | undefined;
  /** Follows the sentence. */
  children?: ReactNode;
}) {
  return (
    error && (
      <p className="problem" role="alert">
        {sentenceOf(error)}
        {children}
      </p>
    )
  );
}

/** A page that is loading, does not exist, or could not be read. */
export function Unavailable({
  title,
  error,
  children,
}: {
  /** The type of resource on the page. */
  title: string;
  error: Error | null;
  /** Why it may be missing, and where to go. */
  children: ReactNode;
}) {
  const isMissing = error instanceof RefusedError && error.status === 404;
  return (
    <Page title={title}>
      {isMissing ? (
        <EmptyState title={`There is no such ${title.toLowerCase()}.`}>
          <p>{children}</p>
        </EmptyState>
      ) : (
        <Problem error={error} />
      )}
    </Page>
  );
}
