import { queryOptions, skipToken, useMutation, useQueryClient } from '@tanstack/react-query';
import { accountQuery, readOnce } from '../../app/account.js';
import { answerOf, api, rawAnswerOf, type Schemas, sentenceOf } from '../../app/api.js';
import { forgetDraftsAt } from '../../app/drafts.js';
import { firstRows } from '../../app/first-rows.js';
import { showToast } from '../../components/toast.js';

export type Subscription = Schemas['Webhook'];

/** A subscription, its JSON text, which keeps all digits of the payload's numbers, and its version for `If-Match`. */
export interface Shown {
  webhook: Subscription;
  text: string;
  version: string;
}

export const subscriptionQuery = (id: string, customer: string | undefined) =>
  queryOptions({
    queryKey: ['webhook', id, 'shown', { customer }],
    queryFn: async ({ signal }): Promise<Shown> => {
      const query = { include: 'activity', ...accountQuery(customer) } as const;
      const params = { path: { id }, query };
      const call = api.GET('/v1/webhooks/{id}', { params, parseAs: 'text', signal });
      const text = await rawAnswerOf(call);
      const version = (await call).response.headers.get('ETag') ?? '*';
      return { webhook: JSON.parse(text) as Subscription, text, version };
    },
    // The stream does not report what the pace delays.
    refetchInterval: ({ state }) => (hasPace(state.data) ? PACE_AGAIN_MS : false),
    ...readOnce(customer),
  });

const PACE_AGAIN_MS = 5_000;

function hasPace(shown: Shown | undefined): boolean {
  const { maxPerSecond, maxConcurrent, ordered } = shown?.webhook ?? {};
  return (maxPerSecond ?? maxConcurrent ?? ordered) !== undefined;
}

/** At most this many waiting deliveries are read. */
const WAITING_ROWS = 20;

/** The send times of the deliveries in a state, earliest first. */
async function nextTries(
  webhookId: string,
  state: 'parked' | 'pending',
  signal: AbortSignal,
): Promise<string[]> {
  const { rows } = await firstRows(WAITING_ROWS, (page) =>
    api.GET('/v1/deliveries', { params: { query: { webhookId, state, ...page } }, signal }),
  );
  return rows.flatMap(({ nextAttemptAt }) => nextAttemptAt ?? []).sort();
}

/**
 * When the earliest parked delivery is sent; null if there is none. The API does not show a hold with the subscription,
 * but nothing is sent before it ends.
 */
export const heldUntilQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhook', id, 'held'],
    queryFn: async ({ signal }) => (await nextTries(id, 'parked', signal))[0] ?? null,
  });

/** When the last retry is sent; null if there is none. */
export const lastRetryQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhook', id, 'last retry'],
    queryFn: async ({ signal }) => (await nextTries(id, 'pending', signal)).at(-1) ?? null,
  });

const DAY_MS = 24 * 3_600_000;

/** When keys of this subscription were replaced within the last day, newest first. */
export const replacedKeysQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhook', id, 'replaced keys'],
    queryFn: async ({ signal }) => {
      const since = new Date(Date.now() - DAY_MS).toISOString();
      const query = { resource: 'webhook', resourceId: id, since, limit: 1_000 };
      const changes = await answerOf(api.GET('/v1/audit', { params: { query }, signal }));
      return changes
        .filter(
          ({ action, fields = [] }) =>
            action === 'webhook.rotate_secret' || fields.includes('signature'),
        )
        .map(({ createdAt }) => createdAt);
    },
  });

/** The secret or public key that verifies notifications. It does not stay in memory once it is hidden. */
export function keyOf(id: string): Promise<Schemas['VerificationKey']> {
  return answerOf(api.GET('/v1/webhooks/{id}/secret', { params: { path: { id } } }));
}

/** Sends the text itself as the body, so that numbers keep all their digits. */
export const asText = (text: string) => ({ bodySerializer: () => text });

/** Reloads everything that shows this subscription. */
export function useReadAgain(id: string): () => Promise<unknown> {
  const client = useQueryClient();
  return () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['webhook', id] }),
      client.invalidateQueries({ queryKey: ['webhooks'] }),
    ]);
}

/** Changes members of a subscription, and resolves to the new version. */
export async function put(id: string, version: string, text: string): Promise<string> {
  const params = { path: { id }, header: { 'If-Match': version } };
  const body = JSON.parse(text) as Schemas['UpdateWebhook'];
  const call = api.PUT('/v1/webhooks/{id}', { params, body, ...asText(text) });
  await answerOf(call);
  return (await call).response.headers.get('ETag') ?? '*';
}

/**
 * Since when the service had disabled a subscription that was enabled here. The API forgets it then, but what the
 * subscription missed meanwhile can still be sent. Null once that is done.
 */
export const offSinceQuery = (id: string) =>
  queryOptions<string | null>({ queryKey: ['off since', id], queryFn: skipToken });

/** Enables a subscription that the customer had disabled, or disables one. */
export function useSwitch(id: string, version: string) {
  return useMutation({
    mutationFn: (enabled: boolean) => put(id, version, JSON.stringify({ enabled })),
    onSuccess: (_version, enabled) =>
      showToast(enabled ? 'The subscription is enabled.' : 'The subscription is disabled.'),
    onSettled: useReadAgain(id),
  });
}

export function usePause(id: string) {
  return useMutation({
    mutationFn: (paused: boolean) => {
      const params = { path: { id } };
      return answerOf(
        paused
          ? api.POST('/v1/webhooks/{id}/pause', { params })
          : api.POST('/v1/webhooks/{id}/resume', { params }),
      );
    },
    onSuccess: (_answer, paused) =>
      showToast(paused ? 'The subscription is paused.' : 'The subscription is resumed.'),
    onError: (error) => showToast(sentenceOf(error), 'bad'),
    onSettled: useReadAgain(id),
  });
}

/** Sends a test, and resolves to the address of its delivery. */
export function useTest(id: string) {
  return useMutation({
    mutationFn: () => answerOf(api.POST('/v1/webhooks/{id}/test', { params: { path: { id } } })),
    onError: (error) => showToast(sentenceOf(error), 'bad'),
  });
}

export function useDeleteSubscription(id: string, version: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => {
      const params = { path: { id }, header: { 'If-Match': version } };
      return answerOf(api.DELETE('/v1/webhooks/{id}', { params }));
    },
    onSuccess: async () => {
      showToast('The subscription is deleted.');
      forgetDraftsAt(`/subscriptions/${id}`);
      // Keep it until the page is left.
      await client.invalidateQueries({ queryKey: ['webhook', id], refetchType: 'none' });
      await client.invalidateQueries({ queryKey: ['webhooks'] });
    },
    onError: () => client.invalidateQueries({ queryKey: ['webhook', id] }),
  });
}

export function useRotate(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () =>
      answerOf(api.POST('/v1/webhooks/{id}/secret/rotate', { params: { path: { id } } })),
    onSettled: () => client.invalidateQueries({ queryKey: ['webhook', id] }),
  });
}
