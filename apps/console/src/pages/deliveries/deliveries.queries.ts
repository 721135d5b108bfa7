import { useMutation, useQueryClient } from '@tanstack/react-query';
import { answerOf, api, RefusedError, type Schemas } from '../../app/api.js';
import { type PagedList, pagedQuery } from '../../app/paged-query.js';
import { showToast } from '../../components/toast.js';

export type Delivery = Schemas['Delivery'];

/** Filters as the API has them: see `GET /v1/deliveries`. */
export type DeliveryFilters = Record<string, string>;

export type DeliveryList = PagedList<Delivery>;

/** Deliveries that match, newest first. */
export const deliveriesQuery = (filters: DeliveryFilters) =>
  pagedQuery(['deliveries', filters], (page, signal) =>
    api.GET('/v1/deliveries', { params: { query: { ...filters, ...page } }, signal }),
  );

/** Sends finished deliveries again, one after the other, and tells how that went. */
export function useRedeliver() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (ids: readonly string[]) => {
      const refused: string[] = [];
      for (const id of ids) {
        try {
          await answerOf(api.POST('/v1/deliveries/{id}/redeliver', { params: { path: { id } } }));
        } catch (error) {
          if (!(error instanceof RefusedError) || error.status === 401) throw error;
          refused.push(error.message);
        }
      }
      return { sent: ids.length - refused.length, refused };
    },
    onSuccess: ({ sent, refused }) => {
      const what = sent === 1 ? '1 delivery is' : `${sent} deliveries are`;
      if (sent > 0) showToast(`${what} being sent again.`);
      for (const reason of new Set(refused)) {
        const count = refused.filter((each) => each === reason).length;
        showToast(count === 1 ? reason : `${count} were not sent again. ${reason}`, 'bad');
      }
    },
    onError: () => showToast('The server did not answer. Try again.', 'bad'),
    onSettled: (_result, _error, ids) =>
      Promise.all(ids.map((id) => client.invalidateQueries({ queryKey: ['delivery', id] }))),
  });
}
