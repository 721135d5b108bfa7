import { queryOptions } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../app/api.js';
import { firstRows } from '../../app/first-rows.js';
import { useMayChange } from '../../app/session.js';
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

/** How many deliveries wait for a retry, up to a limit. */
export const waitingQuery = queryOptions({
  queryKey: ['overview', 'waiting'],
  refetchInterval: READ_AGAIN_MS,
  queryFn: async ({ signal }): Promise<Waiting> => {
    const { rows, isMore } = await firstRows(LIMIT, (page) =>
      api.GET('/v1/deliveries', { params: { query: { ...WAITING, ...page } }, signal }),
    );
    return { count: rows.length, isMore };
  },
});

/** A notice if deliveries wait for a retry, even if their target works again. */
export function WaitingNote({ waiting }: { waiting: Waiting | undefined }) {
  const mayChange = useMayChange();
  if (!waiting || waiting.count === 0) return null;
  const { count, isMore } = waiting;
  const isOne = count === 1 && !isMore;
  const them = isOne ? 'it' : 'them';
  return (
    <Notice tone="waiting">
      <p>
        {isOne ? '1 delivery waits' : `${count}${isMore ? ' or more' : ''} deliveries wait`} for a
        retry.{' '}
        <Link href={PATH}>
          See {them}
          {mayChange && `, or send ${them} now`}
        </Link>
        .
      </p>
    </Notice>
  );
}
