import { QueryClient } from '@tanstack/react-query';
import { RefusedError } from '#libs/client';

/** Refusals do not change by repetition; a server that is away comes back. */
function isWorthRetrying(failures: number, error: Error): boolean {
  const isRefusal = error instanceof RefusedError && error.status < 500;
  return !isRefusal && failures < 2;
}

/** What was read of the API. The stream keeps fresh what is shown; what is shown again is read again. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 0, retry: isWorthRetrying, refetchOnWindowFocus: false },
  },
});
