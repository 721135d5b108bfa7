import { useQuery } from '@tanstack/react-query';
import type { Filter } from '../components/filter-bar.js';
import { accountsQuery } from './account.queries.js';
import { namedApplicationsQuery, namedSubscriptionsQuery } from './names.queries.js';
import { useUser } from './session.js';

/** What has a name, for the palette, and the texts in which it is searched. */
export function useNamed() {
  const { role } = useUser();
  const { data: accounts = [] } = useQuery({ ...accountsQuery, enabled: role === 'platform' });
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

/** A filter by application, chosen by its name. */
export function useApplicationFilter(): Filter {
  return useNamedFilter('applicationId', 'Application', useQuery(namedApplicationsQuery).data);
}

/** A filter by subscription, chosen by its name or, without one, its target. */
export function useSubscriptionFilter(): Filter {
  const { data } = useQuery(namedSubscriptionsQuery);
  const named = data?.map(({ id, name, targetUrl }) => ({ id, name: name ?? targetUrl }));
  return useNamedFilter('webhookId', 'Subscription', named);
}

function useNamedFilter(
  name: string,
  label: string,
  among: readonly { id: string; name: string }[] = [],
): Filter {
  const { role } = useUser();
  // The platform has not got the names of others' things to choose from.
  if (role === 'platform' && among.length === 0) return { name, label, kind: 'choice' };
  const sorted = among.toSorted((one, other) => one.name.localeCompare(other.name));
  return {
    ...{ name, label, kind: 'choice' },
    choices: sorted.map(({ id }) => id),
    names: Object.fromEntries(sorted.map(({ id, name: called }) => [id, called])),
  };
}

/** `Support line (5)`, or the id alone if the name is not known. */
export function ApplicationName({ id }: { id: string }) {
  const { data } = useQuery(namedApplicationsQuery);
  return <Named id={id} among={data} />;
}

/** `application Support line (5)`. @param none what stands there without one */
export function OfApplication({ id, none }: { id: string | undefined; none: string }) {
  if (id === undefined) return none;
  return (
    <>
      application <ApplicationName id={id} />
    </>
  );
}

/** `Billing (7)`, or the id alone if it has no name, or that is not known. */
export function SubscriptionName({ id }: { id: string }) {
  const { data } = useQuery(namedSubscriptionsQuery);
  return <Named id={id} among={data} />;
}

/** Its name, or the id if that is not known. */
export function NameOfApplication({ id }: { id: string }) {
  const { data = [] } = useQuery(namedApplicationsQuery);
  return data.find((one) => one.id === id)?.name ?? id;
}

/** Its name alone; undefined if it has none, or that is not known. */
export function useNameOfSubscription(id: string): string | undefined {
  const { data = [] } = useQuery(namedSubscriptionsQuery);
  return data.find((one) => one.id === id)?.name;
}

/** {@link useNameOfSubscription}. @param otherwise what stands there without one */
export function NameOfSubscription({ id, otherwise }: { id: string; otherwise: string }) {
  return useNameOfSubscription(id) ?? otherwise;
}

function Named({
  id,
  among = [],
}: {
  id: string;
  among: readonly { id: string; name?: string }[] | undefined;
}) {
  const name = among.find((one) => one.id === id)?.name;
  if (name === undefined) return id;
  return (
    <>
      <bdi>{name}</bdi> ({id})
    </>
  );
}
