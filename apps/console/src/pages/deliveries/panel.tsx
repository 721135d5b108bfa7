import { ExternalLink, X } from 'lucide-react';
import { useEffect } from 'react';
import { Link } from 'wouter';
import { Problem } from '../../app/problem.js';
import {
  DeliveryActions,
  DeliveryDetails,
  useDelivery,
  useOwner,
} from '../delivery/delivery-details.js';
import type { Delivery } from '../delivery/delivery.queries.js';
import { StatePill } from './state-pill.js';

/** A delivery beside the list. Escape closes it. */
export function Panel({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, error } = useDelivery(id);
  useEffect(() => {
    function onKey({ key, target }: KeyboardEvent): void {
      const isElsewhere = target instanceof Element && target.closest('dialog, input, select');
      if (key === 'Escape' && !isElsewhere) onClose();
    }
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [onClose]);
  return (
    <aside className="card panel" aria-label="Delivery">
      <header>
        {data && <Heading delivery={data} />}
        <Link href={`/deliveries/${id}`} className="icon" aria-label="Open as a page">
          <ExternalLink size={16} aria-hidden />
        </Link>
        <button type="button" className="plain icon" aria-label="Close" onClick={onClose}>
          <X size={18} aria-hidden />
        </button>
      </header>
      <div className="inside">
        <Problem error={error} />
        {data && <DeliveryDetails key={data.id} delivery={data} />}
      </div>
    </aside>
  );
}

function Heading({ delivery }: { delivery: Delivery }) {
  const { isOwn } = useOwner(delivery);
  return (
    <>
      <StatePill delivery={delivery} />
      <h2>
        {delivery.event} · {delivery.resource}
      </h2>
      <span className="actions">{isOwn && <DeliveryActions delivery={delivery} />}</span>
    </>
  );
}
