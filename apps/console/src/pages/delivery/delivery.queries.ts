import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import {
  answerOf,
  api,
  rawAnswerOf,
  RefusedError,
  type Schemas,
  sentenceOf,
} from '../../app/api.js';
import { showToast } from '../../components/toast.js';
import { everyOf } from '#libs/client';

export type Attempt = Schemas['Attempt'];
export type Delivery = Schemas['DeliveryWithAttempts'];

/** A delivery with its newest attempts. */
export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['delivery', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/v1/deliveries/{id}', { params: { path: { id } }, signal })),
  });

/** All attempts, for deliveries with more than the API includes. */
export const attemptsQuery = (id: string) =>
  queryOptions({
    queryKey: ['delivery', id, 'attempts'],
    queryFn: async ({ signal }) => {
      const read = ({ after }: { after?: string }) =>
        api.GET('/v1/deliveries/{id}/attempts', {
          params: { path: { id }, query: { after: Number(after ?? 0), limit: 1_000 } },
          signal,
        });
      const attempts: Attempt[] = [];
      for await (const attempt of everyOf(read)) attempts.push(attempt);
      return attempts;
    },
  });

/** The subscription, undefined if it was deleted; and its JSON text, which keeps all digits of numbers. */
export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhook', id, 'raw'],
    queryFn: async ({ signal }) => {
      const path = { id };
      const call = api.GET('/v1/webhooks/{id}', { params: { path }, parseAs: 'text', signal });
      const text = await unlessMissing(rawAnswerOf(call));
      return text === undefined
        ? { text, webhook: undefined }
        : { text, webhook: JSON.parse(text) as Schemas['Webhook'] };
    },
  });

/** The JSON text of an event. It never changes. */
export const eventQuery = (id: string) =>
  queryOptions({
    queryKey: ['event', id, 'raw'],
    staleTime: Infinity,
    queryFn: ({ signal }) =>
      rawAnswerOf(
        api.GET('/v1/events/{id}', { params: { path: { id } }, parseAs: 'text', signal }),
      ),
  });

/** Cancels a waiting delivery. */
export function useCancel(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () =>
      answerOf(api.POST('/v1/deliveries/{id}/cancel', { params: { path: { id } } })),
    onError: (error) => showToast(sentenceOf(error), 'bad'),
    onSettled: () => client.invalidateQueries({ queryKey: ['delivery', id] }),
  });
}

async function unlessMissing<Body>(answer: Promise<Body>): Promise<Body | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RefusedError && error.status === 404) return undefined;
    throw error;
  }
}
