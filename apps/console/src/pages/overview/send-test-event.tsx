import { useQuery } from '@tanstack/react-query';
import { Zap } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useCommands } from '../../app/commands.js';
import { subscriptionsOf } from '../../app/names.queries.js';

const TestDialog = lazy(() => import('./test-dialog.js'));

const LABEL = 'Send a test event';

/** A button that sends a test to an enabled subscription, and opens its delivery. */
export function SendTestEvent({ className }: { className?: string }) {
  const { data = [] } = useQuery(subscriptionsOf());
  const [isOpen, setIsOpen] = useState(false);
  const choices = data.filter(({ enabled }) => enabled);
  const open = () => setIsOpen(true);
  useCommands(choices.length === 0 ? [] : [{ name: LABEL, group: 'Actions', run: open }]);
  return (
    <>
      <button
        type="button"
        className={className}
        aria-haspopup="dialog"
        disabled={choices.length === 0}
        onClick={open}
      >
        <Zap size={14} aria-hidden /> Send test event
      </button>
      {isOpen && (
        <Suspense fallback={null}>
          <TestDialog label={LABEL} choices={choices} onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
