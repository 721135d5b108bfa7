import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { useCommands } from '../../app/palette.js';
import { Problem } from '../../app/problem.js';
import { Dialog } from '../../components/dialog.js';
import { Field } from '../../components/field.js';
import { EmptyState } from '../../components/notice.js';
import { startSentence } from '../deliveries/redeliver-matching.queries.js';
import { allSubscriptionsQuery, type Subscription } from '../overview/subscriptions.queries.js';
import { type Choice, choicesOf } from './choices.js';
import type { Event } from './events.queries.js';
import { type Progress, useSendEvents } from './send-events.queries.js';

const TITLE = 'Send the selected events';

const eventsText = (count: number): string => (count === 1 ? '1 event' : `${count} events`);

interface Props {
  events: readonly Event[];
  /** Gets the ids of the sent events when the dialog closes. */
  onSent: (ids: readonly string[]) => void;
}

/** A button that sends the selected events to a subscription. */
export function SendEvents({ events, onSent }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const open = () => setIsOpen(true);
  const { length } = events;
  useCommands(length === 0 ? [] : [{ name: TITLE, group: 'Actions', run: open }]);
  function close(sent: readonly string[]): void {
    setIsOpen(false);
    onSent(sent);
  }
  return (
    <>
      {length > 0 && (
        <button type="button" aria-haspopup="dialog" onClick={open}>
          Send {length} selected …
        </button>
      )}
      {isOpen && <SendDialog events={events} onSent={close} />}
    </>
  );
}

/** Asks for a subscription, then shows the progress. */
function SendDialog({ events, onSent }: Props) {
  const [chosen, setChosen] = useState<Choice>();
  const { send, stop, isPending, error, progress } = useSendEvents();
  const close = () => onSent([...progress.sent, ...progress.before]);
  function start(choice: Choice): void {
    setChosen(choice);
    send({ ids: choice.ids, webhookId: choice.subscription.id });
  }
  return (
    <Dialog label={TITLE} onClose={isPending ? stop : close}>
      <h2>{TITLE}</h2>
      {!chosen && <ChoiceForm events={events} onChoose={start} onClose={close} />}
      {chosen && (
        <>
          <p>
            To <bdi className="strong">{nameOf(chosen.subscription)}</bdi>
          </p>
          <div role="status">
            {isPending ? (
              <p>{progressText(progress, chosen.ids.length)}</p>
            ) : (
              <Summary progress={progress} chosen={chosen} />
            )}
          </div>
          {error && (
            <p className="problem" role="alert">
              {startSentence(error)}
            </p>
          )}
          <div className="tools">
            <button type="button" autoFocus onClick={isPending ? stop : close}>
              {isPending ? 'Stop' : 'Close'}
            </button>
          </div>
        </>
      )}
    </Dialog>
  );
}

function ChoiceForm({
  events,
  onChoose,
  onClose,
}: {
  events: readonly Event[];
  onChoose: (choice: Choice) => void;
  onClose: () => void;
}) {
  const { data, error } = useQuery(allSubscriptionsQuery);
  const [id, setId] = useState<string>();
  const choices = choicesOf(events, data ?? []);
  const choice = choices.find(({ subscription }) => subscription.id === id) ?? choices[0];
  return (
    <>
      <Problem error={error} />
      {data && !choice && (
        <EmptyState title="No subscription that is switched on gets these events.">
          <p>
            <Link href="/subscriptions/new">Create a subscription</Link> first, and then send it
            these events.
          </p>
        </EmptyState>
      )}
      {choice && (
        <Field label="To the subscription" hint={hintOf(choice.ids.length, events.length)}>
          <select
            value={choice.subscription.id}
            onChange={({ target }) => setId(target.value)}
            autoFocus
          >
            {choices.map(({ subscription }) => (
              <option key={subscription.id} value={subscription.id}>
                {nameOf(subscription)}
              </option>
            ))}
          </select>
        </Field>
      )}
      <div className="tools">
        <button
          type="button"
          className="primary"
          disabled={!choice}
          onClick={() => choice && onChoose(choice)}
        >
          Send{choice && ` ${eventsText(choice.ids.length)}`}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </>
  );
}

function nameOf({ name, targetUrl }: Subscription): string {
  return name === undefined ? targetUrl : `${name} (${targetUrl})`;
}

function hintOf(fitting: number, all: number): string {
  return fitting === all
    ? 'It is for every selected event.'
    : `It is for ${fitting} of the ${all} selected events. The others are left out.`;
}

function progressText({ sent, before, refused, waitS }: Progress, all: number): string {
  if (waitS !== undefined) {
    return `Your account has reached its rate limit. Sending continues in ${waitS} s.`;
  }
  const done = sent.length + before.length + refused.length;
  return `Sending event ${Math.min(done + 1, all)} of ${all} …`;
}

/** The outcome, in sentences. */
function Summary({
  progress: { sent, before, refused },
  chosen: { subscription, ids },
}: {
  progress: Progress;
  chosen: Choice;
}) {
  const left = ids.length - sent.length - before.length - refused.length;
  const are = (count: number) => (count === 1 ? 'is' : 'are');
  return (
    <>
      {sent.length > 0 && (
        <p>
          {eventsText(sent.length)} {are(sent.length)} being sent.
        </p>
      )}
      {before.length > 0 && (
        <p>
          {eventsText(before.length)} had already been sent to it, so{' '}
          {before.length === 1 ? 'it was' : 'they were'} left out.
        </p>
      )}
      {[...new Set(refused)].map((reason) => {
        const count = refused.filter((each) => each === reason).length;
        return (
          <p key={reason} className="problem">
            {eventsText(count)} {count === 1 ? 'was' : 'were'} refused. {reason}
          </p>
        );
      })}
      {left > 0 && (
        <p>
          {eventsText(left)} {are(left)} not sent yet and {left === 1 ? 'stays' : 'stay'} selected.
        </p>
      )}
      <p>
        <Link href={`/deliveries?webhookId=${subscription.id}`}>
          Deliveries of this subscription
        </Link>
      </p>
    </>
  );
}
