import { Link } from 'wouter';
import { Unavailable } from '../../app/problem.js';
import { Page } from '../../components/page.js';
import { localText } from '../../components/time.js';
import { StatePill } from '../deliveries/state-pill.js';
import {
  DeliveryActions,
  DeliveryDetails,
  useDelivery,
  useOwner,
  Whose,
} from './delivery-details.js';
import type { Delivery } from './delivery.queries.js';

/** One delivery, as a page. */
export default function DeliveryPage({ params }: { params: Record<string, string> }) {
  const { data, error } = useDelivery(params['id'] ?? '');
  if (data) return <Shown delivery={data} />;
  return (
    <Unavailable title="Delivery" error={error}>
      It may have been removed because of its age, or belong to another account. Go to{' '}
      <Link href="/deliveries">all deliveries</Link>.
    </Unavailable>
  );
}

function Shown({ delivery }: { delivery: Delivery }) {
  const { event, resource, createdAt, test } = delivery;
  const { mayChange } = useOwner(delivery);
  return (
    <Page
      title={`${event} · ${resource}${test ? ' · test' : ''}`}
      tab={`${event} of ${localText(createdAt)} – Deliveries`}
      crumb={
        <Link href="/deliveries" className="crumb">
          Deliveries
        </Link>
      }
      state={
        <>
          <StatePill delivery={delivery} />
          <Whose delivery={delivery} />
        </>
      }
      actions={<DeliveryActions delivery={delivery} mayChange={mayChange} />}
    >
      <div className="delivery-page">
        <DeliveryDetails delivery={delivery} />
      </div>
    </Page>
  );
}
