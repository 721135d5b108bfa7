import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { answerOf, api, type Schemas } from '../../app/api.js';
import { showToast } from '../../components/toast.js';
import { asText, put, useReadAgain } from './subscription.queries.js';
import { bodyOf, type SubscriptionValues } from './values.js';

/** What applies where a form is left empty. */
export const defaultsQuery = queryOptions({
  queryKey: ['defaults'],
  staleTime: Infinity,
  queryFn: ({ signal }) => answerOf(api.GET('/v1/webhooks/defaults', { signal })),
});

/** Creates a subscription from its form. */
export function useCreateSubscription() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({
      values,
      applicationId,
    }: {
      values: SubscriptionValues;
      /** '': the whole account */
      applicationId: string;
    }) => {
      const text = bodyOf(values);
      const body = JSON.parse(text) as Schemas['CreateWebhook'];
      return answerOf(
        applicationId === ''
          ? api.POST('/v1/webhooks', { body, ...asText(text) })
          : api.POST('/v1/applications/{applicationId}/webhooks', {
              params: { path: { applicationId } },
              body,
              ...asText(text),
            }),
      );
    },
    onSuccess: () => showToast('The subscription is created.'),
    onSettled: () => client.invalidateQueries({ queryKey: ['webhooks'] }),
  });
}

/** Saves a form, and resolves to the new version. */
export function useUpdateSubscription(id: string) {
  return useMutation({
    mutationFn: ({
      values,
      base,
    }: {
      values: SubscriptionValues;
      base: { values: SubscriptionValues; version: string };
    }) => put(id, base.version, bodyOf(values, base.values)),
    onSuccess: () => showToast('The subscription is saved.'),
    onSettled: useReadAgain(id),
  });
}
