import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { answerOf, api, rawAnswerOf, type Schemas } from '../../app/api.js';
import { pagedQuery } from '../../app/paged-query.js';
import { rawMembers } from '../delivery/raw-json.js';

export type Report = Omit<Schemas['EventReport'], 'data'>;

/** An event with its deliveries, and its data as text, which keeps all digits of numbers. */
export const reportQuery = (id: string) =>
  queryOptions({
    queryKey: ['event', id, 'report'],
    queryFn: async ({ signal }) => {
      const params = { path: { id } };
      const text = await rawAnswerOf(
        api.GET('/v1/events/{id}', { params, parseAs: 'text', signal }),
      );
      return { report: JSON.parse(text) as Report, data: rawMembers(text).get('data') ?? '' };
    },
  });

/** The API includes at most this many deliveries with an event. */
export const SHOWN = 100;

/** All deliveries of an event with more than the API includes. */
export const eventDeliveriesQuery = (id: string) =>
  pagedQuery(['event', id, 'deliveries'], (page, signal) =>
    api.GET('/v1/events/{id}/deliveries', { params: { path: { id }, query: page }, signal }),
  );

/** Sends an event to a subscription that did not get it. */
export function useSend(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (webhookId: string) =>
      answerOf(
        api.POST('/v1/events/{id}/deliveries', { params: { path: { id } }, body: { webhookId } }),
      ),
    // Reload even after a refusal, which means that the page is outdated.
    onSettled: () => client.invalidateQueries({ queryKey: reportQuery(id).queryKey }),
  });
}
