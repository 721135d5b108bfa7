import { nextPageOf } from '#libs/client';
import { queryOptions } from '@tanstack/react-query';
import { Link } from 'wouter';
import { answerOf, api } from '../../app/api.js';
import { Notice } from '../../components/notice.js';

const LIMIT = 50;
const READ_AGAIN_MS = 10_000;
const WAITING = { state: 'pending', status: 'failed' } as const;
const PATH = `/deliveries?${new URLSearchParams(WAITING).toString()}`;

interface Waiting {
  count: number;
  /** Whether there may be more. */
  isMore: boolean;
}

/** The deliveries that wait for a retry: how many are on the first page. */
export const waitingQuery = queryOptions({
  queryKey: ['overview', 'waiting'],
  refetchInterval: READ_AGAIN_MS,
  queryFn: async ({ signal }): Promise<Waiting> => {
    const query = { ...WAITING, limit: LIMIT };
    const call = api.GET('/v1/deliveries', { params: { query }, signal });
    const { length } = await answerOf(call);
    return { count: length, isMore: nextPageOf((await call).response) !== undefined };
  },
});

/** A notice if deliveries wait for a retry, even if their target works again. */
export function WaitingNote({ waiting }: { waiting: Waiting | undefined }) {
  if (!waiting || waiting.count === 0) return null;
  const { count, isMore } = waiting;
  const isOne = count === 1 && !isMore;
  return (
    <Notice tone="waiting">
      <p>
        {isOne ? '1 delivery waits' : `${count}${isMore ? ' or more' : ''} deliveries wait`} for a
        retry.{' '}
        <Link href={PATH}>
          See {isOne ? 'it' : 'them'}, or send {isOne ? 'it' : 'them'} now
        </Link>
        .
      </p>
    </Notice>
  );
}
