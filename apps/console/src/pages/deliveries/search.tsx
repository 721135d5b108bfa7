import { useQuery } from '@tanstack/react-query';
import { useLocation, useSearchParams } from 'wouter';
import { namedApplicationsQuery, namedSubscriptionsQuery } from '../../app/names.queries.js';
import { SearchField } from '../../components/search-field.js';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const RESULT = /^[1-5](xx|\d\d)$/;

/** Finds deliveries by an id, a producer's id, an answer, or the name of a subscription or application. */
export function DeliverySearch() {
  const [, navigate] = useLocation();
  const [search, setSearch] = useSearchParams();
  const { data: subscriptions = [] } = useQuery(namedSubscriptionsQuery);
  const { data: applications = [] } = useQuery(namedApplicationsQuery);

  function filterBy(name: string, value: string): void {
    const next = new URLSearchParams(search);
    next.set(name, value);
    setSearch(next);
  }

  function find(text: string): void {
    const wanted = text.toLowerCase();
    const isCalled = (name = '') => name.toLowerCase() === wanted;
    const subscription = subscriptions.find(
      ({ name, targetUrl }) => isCalled(name) || isCalled(targetUrl),
    );
    const application = applications.find(({ name }) => isCalled(name));
    if (text === '') return;
    if (UUID.test(text)) navigate(`/deliveries/${wanted}`);
    else if (RESULT.test(wanted)) filterBy('status', wanted);
    else if (subscription) filterBy('webhookId', subscription.id);
    else if (application) filterBy('applicationId', application.id);
    else filterBy('producerId', text);
  }

  return (
    <SearchField
      label="Id, name, answer"
      suggestions={[...subscriptions, ...applications].flatMap(({ name }) => name ?? [])}
      onSearch={find}
    />
  );
}
