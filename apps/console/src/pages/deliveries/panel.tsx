import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { type ReactNode, useEffect, useEffectEvent } from 'react';
import { useLocation } from 'wouter';
import { Problem } from '../../app/problem.js';
import {
  DeliveryActions,
  DeliveryDetails,
  useDelivery,
  useOwner,
  Whose,
} from '../delivery/delivery-details.js';
import type { Delivery } from '../delivery/delivery.queries.js';
import { StatePill } from './state-pill.js';

/** A delivery beside the list. Escape closes it; `j` and `k` open the next and the previous one. */
export function Panel({
  id,
  onPrevious,
  onNext,
  onClose,
}: {
  id: string;
  /** Absent at the start of the list. */
  onPrevious: (() => void) | undefined;
  /** Absent at the end of the list. */
  onNext: (() => void) | undefined;
  onClose: () => void;
}) {
  const { data, error } = useDelivery(id);
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const { key, target, defaultPrevented, ctrlKey, metaKey, altKey } = event;
    const isElsewhere =
      target instanceof Element && target.closest('dialog, input, select, textarea, [popover]');
    // While the list has the focus, it handles the same keys.
    if (isElsewhere || defaultPrevented || ctrlKey || metaKey || altKey) return;
    if (key === 'Escape') onClose();
    else if (key === 'j') onNext?.();
    else if (key === 'k') onPrevious?.();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKey(event);
    window.addEventListener('keydown', listener);
    return () => window.removeEventListener('keydown', listener);
  }, []);
  const steps = (
    <>
      <IconButton name="Previous" keyName="k" onClick={onPrevious}>
        <ChevronUp size={16} aria-hidden />
      </IconButton>
      <IconButton name="Next" keyName="j" onClick={onNext}>
        <ChevronDown size={16} aria-hidden />
      </IconButton>
    </>
  );
  return (
    <aside className="card panel" aria-label="Delivery">
      <header>
        {data ? (
          <Heading delivery={data}>{steps}</Heading>
        ) : (
          <span className="actions">{steps}</span>
        )}
        <IconButton name="Close" keyName="Escape" onClick={onClose}>
          <X size={16} aria-hidden />
        </IconButton>
      </header>
      <div className="inside">
        <Problem error={error} />
        {data && <Whose delivery={data} />}
        {data && <DeliveryDetails key={data.id} delivery={data} />}
      </div>
    </aside>
  );
}

function Heading({ delivery, children }: { delivery: Delivery; children: ReactNode }) {
  const { mayChange } = useOwner(delivery);
  const [, navigate] = useLocation();
  const openAsPage = { name: 'Open as a page', run: () => navigate(`/deliveries/${delivery.id}`) };
  return (
    <>
      <StatePill delivery={delivery} />
      <h2>
        {delivery.event} · {delivery.resource}
        {delivery.test && ' · test'}
      </h2>
      <span className="actions">
        <DeliveryActions delivery={delivery} mayChange={mayChange} items={[openAsPage]}>
          {children}
        </DeliveryActions>
      </span>
    </>
  );
}

/**
 * @param onClick absent if the button is disabled
 */
function IconButton({
  name,
  keyName,
  onClick,
  children,
}: {
  name: string;
  keyName: string;
  onClick: (() => void) | undefined;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      className="icon"
      aria-label={name}
      title={`${name} (${keyName})`}
      disabled={!onClick}
      onClick={onClick}
    >
      {children}
    </button>
  );
}
