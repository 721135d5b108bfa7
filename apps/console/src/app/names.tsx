import { useQuery } from '@tanstack/react-query';
import type { Filter } from '../components/filter-bar.js';
import { accountsQuery } from './account.queries.js';
import {
  applicationsOf,
  namedApplicationsQuery,
  namedSubscriptionsQuery,
} from './names.queries.js';
import { isOperator } from './session-state.js';
import { useUser } from './session.js';

/** A named resource for the palette, and the texts to search it by. */
export function useNamed() {
  const { role } = useUser();
  const { data: accounts = [] } = useQuery({ ...accountsQuery, enabled: isOperator(role) });
  const { data: applications = [] } = useQuery(namedApplicationsQuery);
  const { data: subscriptions = [] } = useQuery(namedSubscriptionsQuery);
  return [
    ...applications.map(({ id, name, voiceUrl = '', messagingUrl = '' }) => ({
      name,
      detail: id,
      group: 'Applications',
      path: `/applications/${id}`,
      searched: `applications ${name} ${voiceUrl} ${messagingUrl}`,
    })),
    ...subscriptions.map(({ id, name = '', targetUrl }) => ({
      name: name || targetUrl,
      detail: id,
      group: 'Subscriptions',
      path: `/subscriptions/${id}`,
      searched: `subscriptions ${name} ${targetUrl}`,
    })),
    ...accounts.map(({ id, username }) => ({
      name: username,
      detail: String(id),
      group: 'Accounts',
      path: `/accounts/${id}`,
      searched: username,
    })),
  ];
}

/**
 * A filter by application that offers the names. @param customer for the platform: of another account
 */
export function useApplicationFilter(customer?: string): Filter {
  const { data } = useQuery(applicationsOf(customer));
  return useNamedFilter('applicationId', 'Application', data);
}

/** A filter by subscription that offers the names or, without one, the targets. */
export function useSubscriptionFilter(name = 'webhookId', label = 'Subscription'): Filter {
  const { data } = useQuery(namedSubscriptionsQuery);
  const named = data?.map(({ id, name: called, targetUrl }) => ({
    id,
    name: called ?? targetUrl,
    detail: called === undefined ? id : `${targetUrl} · ${id}`,
  }));
  return useNamedFilter(name, label, named);
}

function useNamedFilter(
  name: string,
  label: string,
  among: readonly { id: string; name: string; detail?: string }[] = [],
): Filter {
  const { role } = useUser();
  // Operators do not read the names of other accounts' resources.
  if (isOperator(role) && among.length === 0) return { name, label, kind: 'choice' };
  const sorted = among.toSorted((one, other) => one.name.localeCompare(other.name));
  return {
    ...{ name, label, kind: 'choice' },
    choices: sorted.map(({ id }) => id),
    names: Object.fromEntries(sorted.map(({ id, name: called }) => [id, called])),
    details: Object.fromEntries(sorted.map(({ id, detail = id }) => [id, detail])),
  };
}

/** `Support line (5)`; the id alone if the name is unknown. */
export function ApplicationName({ id, customer }: { id: string; customer?: string | undefined }) {
  const { data = [] } = useQuery(applicationsOf(customer));
  const name = data.find((one) => one.id === id)?.name;
  if (name === undefined) return id;
  return (
    <>
      <bdi>{name}</bdi> ({id})
    </>
  );
}

/** The name; the id if the name is unknown. */
export function NameOfApplication({ id, customer }: { id: string; customer?: string | undefined }) {
  const { data = [] } = useQuery(applicationsOf(customer));
  return data.find((one) => one.id === id)?.name ?? id;
}

/** The name alone; undefined if it has none or it is unknown. */
export function useNameOfSubscription(id: string): string | undefined {
  const { data = [] } = useQuery(namedSubscriptionsQuery);
  return data.find((one) => one.id === id)?.name;
}

/**
 * {@link useNameOfSubscription}. @param otherwise the text without a name
 */
export function NameOfSubscription({ id, otherwise }: { id: string; otherwise: string }) {
  return useNameOfSubscription(id) ?? otherwise;
}
