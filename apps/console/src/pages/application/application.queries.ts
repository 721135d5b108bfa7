import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { accountQuery, readOnce } from '../../app/account.js';
import { answerOf, api, type Schemas } from '../../app/api.js';
import { forgetDraftsAt } from '../../app/drafts.js';
import { showToast } from '../../components/toast.js';
import { type ApplicationValues, changesOf } from './application-values.js';

export type Application = Schemas['Application'];

/**
 * An application, and its version for `If-Match`. @param customer for the platform: of another account
 */
export const applicationQuery = (id: string, customer: string | undefined) =>
  queryOptions({
    queryKey: ['application', id, { customer }],
    ...readOnce(customer),
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: accountQuery(customer) };
      const call = api.GET('/v1/applications/{id}', { params, signal });
      const application = await answerOf(call);
      return { application, version: (await call).response.headers.get('ETag') ?? '*' };
    },
  });

export const environmentsQuery = queryOptions({
  queryKey: ['environments'],
  staleTime: 60_000,
  queryFn: ({ signal }) => answerOf(api.GET('/v1/environments', { signal })),
});

/** Reloads everything that shows applications. */
function useForget(): () => Promise<unknown> {
  const client = useQueryClient();
  return () =>
    Promise.all(
      ['application', 'applications'].map((key) => client.invalidateQueries({ queryKey: [key] })),
    );
}

export function useCreateApplication() {
  const forget = useForget();
  return useMutation({
    mutationFn: (values: ApplicationValues) => {
      const body = changesOf(values) as Schemas['CreateApplication'];
      return answerOf(api.POST('/v1/applications', { body }));
    },
    onSuccess: () => showToast('The application is created.'),
    onSettled: forget,
  });
}

export function useUpdateApplication(id: string) {
  const forget = useForget();
  return useMutation({
    mutationFn: async ({
      values,
      base,
    }: {
      values: ApplicationValues;
      base: { values: ApplicationValues; version: string };
    }) => {
      const params = { path: { id }, header: { 'If-Match': base.version } };
      const body = changesOf(values, base.values);
      const call = api.PUT('/v1/applications/{id}', { params, body });
      await answerOf(call);
      return (await call).response.headers.get('ETag') ?? '*';
    },
    onSuccess: () => showToast('The application is saved.'),
    onSettled: forget,
  });
}

export function useDeleteApplication(id: string, version: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => {
      const params = { path: { id }, header: { 'If-Match': version } };
      return answerOf(api.DELETE('/v1/applications/{id}', { params }));
    },
    onSuccess: async () => {
      showToast('The application is deleted.');
      forgetDraftsAt(`/applications/${id}`);
      // Keep it until the page is left.
      for (const key of ['application', 'applications', 'webhook', 'webhooks']) {
        await client.invalidateQueries({ queryKey: [key], refetchType: 'none' });
      }
    },
    onError: () => client.invalidateQueries({ queryKey: ['application', id] }),
  });
}
