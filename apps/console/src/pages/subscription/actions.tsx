import { idOf } from '#libs/client';
import { Power, Send } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { sentenceOf } from '../../app/api.js';
import { useCommands } from '../../app/commands.js';
import { Confirm } from '../../components/confirm.js';
import { Menu } from '../../components/menu.js';
import { showToast } from '../../components/toast.js';
import {
  type Shown,
  useDeleteSubscription,
  usePause,
  useSwitch,
  useTest,
} from './subscription.queries.js';

/** The actions on the whole subscription: buttons, and commands in the palette. */
export function Actions({
  shown: { webhook, version },
  isFailing,
  onEnable,
}: {
  shown: Shown;
  /** Whether the callout offers a test. */
  isFailing: boolean;
  /** Enables it if the service had disabled it. */
  onEnable: () => void;
}) {
  const { id, enabled, paused = false, disabledReason } = webhook;
  const [asked, setAsked] = useState<'disable' | 'delete'>();
  const [, navigate] = useLocation();
  const test = useTest(id);
  const pause = usePause(id);
  const power = useSwitch(id, version);

  const sendTest = () =>
    test.mutate(undefined, { onSuccess: (made) => navigate(`/deliveries/${idOf(made)}`) });
  const isDisabledByService = disabledReason !== undefined;
  const enable = () =>
    power.mutate(true, { onError: (error) => showToast(sentenceOf(error), 'bad') });
  const main = enabled
    ? { name: 'Send test', Icon: Send, run: sendTest, isDisabled: test.isPending }
    : {
        name: 'Enable',
        Icon: Power,
        run: isDisabledByService ? onEnable : enable,
        isDisabled: power.isPending,
      };
  const second = paused
    ? { name: 'Resume', run: () => pause.mutate(false), isDisabled: pause.isPending }
    : { name: 'Pause', run: () => pause.mutate(true), isDisabled: pause.isPending };
  // The callout has this button.
  const isInCallout = enabled ? isFailing : isDisabledByService;
  const rare = [
    ...(enabled ? [{ name: 'Disable', run: () => setAsked('disable') }] : []),
    { name: 'Delete', run: () => setAsked('delete'), isDangerous: true },
  ];
  useCommands(
    [main, ...(enabled ? [second] : []), ...rare].map(({ name, run }) => {
      const to = name === 'Send test' ? ' to' : '';
      return { name: `${name}${to} this subscription`, group: 'Actions', run };
    }),
  );
  return (
    <>
      {enabled && (
        <button type="button" disabled={second.isDisabled} onClick={second.run}>
          {second.name}
        </button>
      )}
      <Menu label="More actions" items={isInCallout && enabled ? [main, ...rare] : rare} />
      {!isInCallout && (
        <button type="button" className="primary" disabled={main.isDisabled} onClick={main.run}>
          <main.Icon size={15} aria-hidden /> {main.name}
        </button>
      )}
      {asked === 'disable' && (
        <Confirm
          label="Disable this subscription?"
          action="Disable"
          isBusy={power.isPending}
          error={power.error ? sentenceOf(power.error) : undefined}
          onConfirm={() => power.mutate(false, { onSuccess: () => setAsked(undefined) })}
          onClose={() => setAsked(undefined)}
        >
          <p>
            Waiting notifications are cancelled, and new events are not kept for it. To keep them,
            pause it instead.
          </p>
        </Confirm>
      )}
      {asked === 'delete' && (
        <Deletion id={id} version={version} onClose={() => setAsked(undefined)} />
      )}
    </>
  );
}

function Deletion({ id, version, onClose }: { id: string; version: string; onClose: () => void }) {
  const remove = useDeleteSubscription(id, version);
  const [, navigate] = useLocation();
  return (
    <Confirm
      label="Delete this subscription?"
      action="Delete"
      isBusy={remove.isPending}
      error={remove.error ? sentenceOf(remove.error) : undefined}
      onConfirm={() => remove.mutate(undefined, { onSuccess: () => navigate('/subscriptions') })}
      onClose={onClose}
    >
      <p>Its waiting notifications are cancelled. This cannot be undone.</p>
    </Confirm>
  );
}
