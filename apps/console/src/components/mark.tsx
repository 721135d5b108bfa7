import { Webhook } from 'lucide-react';

/** The product's mark. */
export function Mark() {
  return (
    <span className="mark" aria-hidden>
      <Webhook size={15} />
    </span>
  );
}
