import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useStream } from '../../app/stream.js';
import { lastFailureQuery } from './subscription.queries.js';

/** The newest failed delivery of a subscription, refetched after its health changes. */
export function useLastFailure(webhookId: string) {
  const client = useQueryClient();
  const { data } = useQuery(lastFailureQuery(webhookId));
  const isOutdated = useRef(true);
  useStream({
    webhook: ({ id }) => {
      if (id === webhookId) isOutdated.current = true;
    },
    // The health changes before the attempt is recorded.
    delivery: ({ webhookId: of, attempts }) => {
      if (of !== webhookId || attempts === 0 || !isOutdated.current) return;
      isOutdated.current = false;
      void client.invalidateQueries({ queryKey: lastFailureQuery(webhookId).queryKey });
    },
  });
  return data;
}
