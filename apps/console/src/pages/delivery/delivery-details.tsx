import './delivery.css';
import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { AccountName } from '../../app/account-name.js';
import { useCommands } from '../../app/commands.js';
import { isOperator } from '../../app/session-state.js';
import { useMayChange, useUser } from '../../app/session.js';
import { useStream } from '../../app/stream.js';
import { Confirm } from '../../components/confirm.js';
import { Menu, type MenuItem } from '../../components/menu.js';
import { Notice, Pill } from '../../components/notice.js';
import { LocalTime, RelativeTime, useNow } from '../../components/time.js';
import { useSendNow } from '../deliveries/send-now.queries.js';
import { canBeSent, isFinished } from '../../states/delivery-state.js';
import { Attempts } from './attempts.js';
import {
  attemptsQuery,
  type Delivery,
  deliveryQuery,
  eventQuery,
  useCancel,
  webhookQuery,
} from './delivery.queries.js';
import { Facts } from './facts.js';
import { rawMembers } from './raw-json.js';
import { SignedBody } from './signed-body-section.js';
import { signedBody } from './signed-body.js';
import { forOperator, type Verdict, verdictOf } from '../../states/delivery-verdict.js';
import { sendHint } from '../../states/sending.js';

const AGAIN_MS = 5_000;

/** A delivery, with live updates. */
export function useDelivery(id: string) {
  const client = useQueryClient();
  const { role } = useUser();
  const query = useQuery({
    ...deliveryQuery(id),
    // The stream covers only the user's own account.
    refetchInterval: ({ state }) =>
      isOperator(role) && !isFinished(state.data?.state ?? 'succeeded') ? AGAIN_MS : false,
  });
  const readAgain = () => void client.invalidateQueries({ queryKey: deliveryQuery(id).queryKey });
  useStream({
    delivery: (changed) => changed.id === id && readAgain(),
    attempt: ({ deliveryId }) => deliveryId === id && readAgain(),
    webhook: (changed) => {
      if (changed.id !== query.data?.webhookId) return;
      void client.invalidateQueries({ queryKey: ['webhook', changed.id] });
      // The stream does not report each delivery that this change cancels, parks or releases.
      readAgain();
    },
  });
  return query;
}

/** The account that owns a delivery, known once its event is loaded, and whether the user may change the delivery. */
export function useOwner({ eventId }: Delivery) {
  const event = useQuery(eventQuery(eventId));
  const { role, userId } = useUser();
  const mayChange = useMayChange();
  const accountId = event.data === undefined ? undefined : rawMembers(event.data).get('accountId');
  const isOwn = !isOperator(role) || accountId === String(userId);
  return { event, accountId, isOwn, mayChange: isOwn && mayChange };
}

/** The account that owns a delivery, for the platform. */
export function Whose({ delivery }: { delivery: Delivery }) {
  const { role } = useUser();
  const { accountId, isOwn } = useOwner(delivery);
  if (!isOperator(role)) return null;
  return (
    <p>
      <Pill tone="neutral">
        <span>
          {accountId === undefined ? (
            '…'
          ) : (
            <Link href={`/accounts/${accountId}`}>
              <AccountName id={accountId} />
            </Link>
          )}{' '}
          · {isOwn ? 'yours' : 'read-only'}
        </span>
      </Pill>
    </p>
  );
}

/** The outcome of a delivery, its attempts, and its body. */
export function DeliveryDetails({ delivery }: { delivery: Delivery }) {
  const { role } = useUser();
  const { id, state, attemptLog, webhookId } = delivery;
  const hasMore = delivery.attempts > attemptLog.length;
  const [wantsAll, setWantsAll] = useState(false);
  const all = useQuery({
    ...attemptsQuery(id),
    ...(!(wantsAll && hasMore) && { queryFn: skipToken }),
  });
  const { event, accountId, isOwn, mayChange } = useOwner(delivery);
  const { data: of } = useQuery({
    ...webhookQuery(webhookId),
    ...(!isOwn && { queryFn: skipToken }),
  });

  const attempts = all.data ?? attemptLog;
  const body =
    event.data !== undefined && (of || !isOwn)
      ? signedBody({ id, isTest: delivery.test, event: event.data, webhook: of?.text })
      : undefined;
  const isDeleted = of !== undefined && of.text === undefined;
  const missing = isOwn ? isDeleted && 'deleted' : accountId !== undefined && 'not yours';
  // As text, so that the component renders only on a change.
  const told = JSON.parse(
    useNow((now) => JSON.stringify(verdictOf(delivery, attemptLog, of?.webhook, now))),
  ) as Verdict;
  const verdict = isOperator(role) ? forOperator(told) : told;
  const hint = useNow((now) => (mayChange ? sendHint(delivery, of?.webhook, now) : undefined));
  const isNewer =
    attempts.length > 0 && (of?.webhook?.updatedAt ?? '') > (attempts.at(-1)?.at ?? '');
  return (
    <div className="delivery">
      <section className="verdict" aria-label="Outcome">
        <Notice tone={verdict.tone}>
          <p className="strong">{verdict.sentence}</p>
          {(verdict.advice !== undefined || (state === 'parked' && isOwn)) && (
            <p>
              {verdict.advice}{' '}
              {state === 'parked' && isOwn && (
                <Link href={`/subscriptions/${webhookId}`}>Open its subscription</Link>
              )}
            </p>
          )}
          {verdict.next && (
            <p>
              {verdict.next.text}
              {verdict.next.at !== undefined && (
                <>
                  {' '}
                  <RelativeTime at={verdict.next.at} />, at <LocalTime at={verdict.next.at} />.
                </>
              )}
            </p>
          )}
          {hint !== undefined && <p>{hint}</p>}
          {delivery.test && state === 'succeeded' && (
            <p>
              Next, verify the signature on your server:{' '}
              <Link href={`/subscriptions/${webhookId}?tab=receiver`}>Receiver code</Link> ·{' '}
              <Link href={`/deliveries?webhookId=${webhookId}&state=pending`}>
                Deliveries still retrying
              </Link>
            </p>
          )}
        </Notice>
      </section>
      <Facts delivery={delivery} accountId={accountId} isOwn={isOwn} />
      <Attempts
        attempts={attempts}
        older={
          hasMore &&
          !wantsAll && (
            <p className="older">
              These are the newest {attemptLog.length} of {delivery.attempts} attempts.{' '}
              <button type="button" className="small" onClick={() => setWantsAll(true)}>
                Show all
              </button>
            </p>
          )
        }
        body={body}
        bodyTab={{
          name: 'Body',
          content: (
            <SignedBody body={body} error={event.error} missing={missing} isNewer={isNewer} />
          ),
        }}
      />
    </div>
  );
}

/** Sends a delivery that has ended again, or a waiting one now. Cancels one that has not ended. */
export function DeliveryActions({
  delivery,
  mayChange,
  items = [],
  children,
}: {
  delivery: Delivery;
  /** Whether the user may change it. */
  mayChange: boolean;
  /** More items for the menu. */
  items?: readonly MenuItem[];
  /** Buttons between the first one and the menu. Without them, the menu comes first. */
  children?: ReactNode;
}) {
  const { id, state } = delivery;
  const isEnded = isFinished(state);
  const [isAsked, setAsked] = useState(false);
  const send = useSendNow();
  const cancel = useCancel(id);
  const canSend = mayChange && canBeSent(delivery);
  const canCancel = mayChange && !isEnded;
  const all = [
    ...items,
    ...(canCancel
      ? [{ name: 'Cancel delivery', run: () => setAsked(true), isDangerous: true }]
      : []),
  ];
  const sendIt = () => send.mutate([delivery]);
  useCommands([
    ...(canSend && !send.isPending
      ? [
          {
            name: isEnded ? 'Send this delivery again' : 'Send this delivery now',
            group: 'Actions',
            run: sendIt,
          },
        ]
      : []),
    ...(canCancel
      ? [{ name: 'Cancel this delivery', group: 'Actions', run: () => setAsked(true) }]
      : []),
  ]);
  const primary = canSend && (
    <button type="button" className="primary" disabled={send.isPending} onClick={sendIt}>
      {isEnded ? 'Send again' : 'Send now'}
    </button>
  );
  return (
    <>
      {children && primary}
      {children}
      {all.length > 0 && <Menu label="More actions" items={all} />}
      {!children && primary}
      {isAsked && !isEnded && (
        <Confirm
          label="Cancel this delivery?"
          action="Cancel delivery"
          refusal="Keep it"
          isBusy={cancel.isPending}
          onConfirm={() => cancel.mutate(undefined, { onSettled: () => setAsked(false) })}
          onClose={() => setAsked(false)}
        >
          <p>It will not be retried. An attempt under way finishes first.</p>
        </Confirm>
      )}
    </>
  );
}
