import { skipToken, useQuery } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../../app/api.js';
import { pathsOf } from './members.js';

/** Enough for the members that some events lack. */
const EVENTS = 5;

/** The members of the newest events of a kind. @param event undefined: none */
export function useMembers(event: string | undefined): readonly string[] {
  const { data = [] } = useQuery({
    queryKey: ['members', event],
    staleTime: Infinity,
    queryFn:
      event === undefined
        ? skipToken
        : async ({ signal }) => {
            const kind = event as Schemas['EventKind'];
            const query = { event: kind, limit: EVENTS, include: 'data' } as const;
            const events = await answerOf(api.GET('/v1/events', { params: { query }, signal }));
            return pathsOf(events.map((one) => one.data ?? {}));
          },
  });
  return data;
}
