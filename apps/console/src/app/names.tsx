import { useQuery } from '@tanstack/react-query';
import type { Filter } from '../components/filter-bar.js';
import { inNaturalOrder } from '../components/natural-order.js';
import { useCustomer } from './account.js';
import { accountsQuery } from './account.queries.js';
import { applicationsOf, subscriptionsOf } from './names.queries.js';
import { isOperator } from './session-state.js';
import { useUser } from './session.js';

/** A named resource for the palette, and the texts to search it by. */
export function useNamed() {
  const { role } = useUser();
  const { data: accounts = [] } = useQuery({ ...accountsQuery, enabled: isOperator(role) });
  const { data: applications = [] } = useQuery(applicationsOf());
  const { data: subscriptions = [] } = useQuery(subscriptionsOf());
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

/** A filter by application that offers the names. */
export function useApplicationFilter(): Filter {
  const { data } = useQuery(applicationsOf(useCustomer()));
  return useNamedFilter('applicationId', 'Application', data);
}

/** A filter by subscription that offers the names or, without one, the targets. */
export function useSubscriptionFilter(name = 'webhookId', label = 'Subscription'): Filter {
  const { data } = useQuery(subscriptionsOf(useCustomer()));
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
  // For operators who look at all accounts, there are no names.
  if (isOperator(role) && among.length === 0) return { name, label, kind: 'choice' };
  const sorted = among.toSorted((one, other) => inNaturalOrder(one.name, other.name));
  return {
    ...{ name, label, kind: 'choice' },
    choices: sorted.map(({ id }) => id),
    names: Object.fromEntries(sorted.map(({ id, name: called }) => [id, called])),
    details: Object.fromEntries(sorted.map(({ id, detail = id }) => [id, detail])),
  };
}

/** @param customer whose it is, for operators; by default, the account in the address */
function useNameOfApplication(id: string, customer?: string): string | undefined {
  const shown = useCustomer();
  const { data = [] } = useQuery(applicationsOf(customer ?? shown));
  return data.find((one) => one.id === id)?.name;
}

/** `Support line (5)`; the id alone if the name is unknown. */
export function ApplicationName({ id }: { id: string }) {
  const name = useNameOfApplication(id);
  if (name === undefined) return id;
  return (
    <>
      <bdi>{name}</bdi> ({id})
    </>
  );
}

/** The name; the id if the name is unknown. */
export function NameOfApplication({ id, customer }: { id: string; customer?: string | undefined }) {
  return useNameOfApplication(id, customer) ?? id;
}

/** The name alone; undefined if it has none or it is unknown. */
export function useNameOfSubscription(id: string, customer?: string): string | undefined {
  const shown = useCustomer();
  const { data = [] } = useQuery(subscriptionsOf(customer ?? shown));
  return data.find((one) => one.id === id)?.name;
}

/**
 * {@link useNameOfSubscription}. @param otherwise the text without a name
 */
export function NameOfSubscription({
  id,
  otherwise,
  customer,
}: {
  id: string;
  otherwise: string;
  customer?: string | undefined;
}) {
  return useNameOfSubscription(id, customer) ?? otherwise;
}
