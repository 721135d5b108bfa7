import type { UseQueryResult } from '@tanstack/react-query';
import { RefreshCw } from 'lucide-react';

/** Reloads a list; beside the title of its page. */
export function Refresh({
  list: { isFetching, refetch },
}: {
  list: Pick<UseQueryResult, 'isFetching'> & { refetch: () => Promise<unknown> };
}) {
  return (
    <button
      type="button"
      className="plain refresh"
      aria-label="Refresh"
      title="Refresh"
      onClick={() => void refetch()}
      disabled={isFetching}
    >
      <RefreshCw size={15} aria-hidden />
    </button>
  );
}
