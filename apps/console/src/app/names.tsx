import { useQuery } from '@tanstack/react-query';
import { namedApplicationsQuery, namedSubscriptionsQuery } from './names.queries.js';

/** Applications and subscriptions for the palette, and the texts in which they are searched. */
export function useNamed() {
  const { data: applications = [] } = useQuery(namedApplicationsQuery);
  const { data: subscriptions = [] } = useQuery(namedSubscriptionsQuery);
  return [
    ...applications.map(({ id, name, voiceUrl = '', messagingUrl = '' }) => ({
      name: `${name} (${id})`,
      group: 'Applications',
      path: `/applications/${id}`,
      searched: `applications ${name} ${voiceUrl} ${messagingUrl}`,
    })),
    ...subscriptions.map(({ id, name = '', targetUrl }) => ({
      name: `${name || targetUrl} (${id})`,
      group: 'Subscriptions',
      path: `/subscriptions/${id}`,
      searched: `subscriptions ${name} ${targetUrl}`,
    })),
  ];
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
