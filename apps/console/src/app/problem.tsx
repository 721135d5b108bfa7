import type { ReactNode } from 'react';
import { EmptyState } from '../components/notice.js';
import { Page } from '../components/page.js';
import { RefusedError, sentenceOf } from './api.js';

/** Says what went wrong, if something did. */
export function Problem({
  error,
  children,
}: {
  error: Error | null | undefined;
  /** What follows the sentence. */
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

/** The page of something that is loading, does not exist, or could not be read. */
export function Unavailable({
  title,
  error,
  children,
}: {
  /** Of the page: what it shows one of. */
  title: string;
  error: Error | null;
  /** Why it may not exist, and where to go. */
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
