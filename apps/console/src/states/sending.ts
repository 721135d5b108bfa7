import { leftOutText, outlookText } from '#libs/client';
import type { Schemas } from '../app/api.js';
import { isFinished, type DeliveryState } from './delivery-state.js';

/**
 * What sending does: finished deliveries are sent again, waiting ones now. `undelivered` is both, and `missed` is neither:
 * events without a delivery are sent for the first time.
 */
export type Sends = 'again' | 'now' | 'undelivered' | 'missed';

/** What the filters of a list select: see `Selected`. */
export function sendsOf({ missedBy, state }: Readonly<Record<string, string>>): Sends {
  if (missedBy !== undefined) return 'missed';
  if (state === undefined) return 'undelivered';
  return isFinished(state as DeliveryState) ? 'again' : 'now';
}

/** The text of a button without a number. */
export const SEND_LABELS: Record<Sends, string> = {
  again: 'Send again',
  now: 'Send now',
  undelivered: 'Send undelivered',
  missed: 'Send missed events',
};

/** What happens to each that is sent. */
export const SEND_NOTES: Record<Sends, string> = {
  again:
    'Each delivery gets a full schedule of attempts. It keeps its id, so your server may get an id that it has handled before. Tests are left out.',
  now: 'Each delivery is tried now, and keeps the rest of its schedule. A pause or an open circuit still holds it back. Tests are left out.',
  undelivered:
    'Failed and cancelled deliveries are sent again, with a full schedule of attempts; waiting ones are sent now. Each keeps its id, so your server may get an id that it has handled before. Tests are left out.',
  missed: 'Sends every matching event that this subscription has not received.',
};

const countOf = (count: number, sends: Sends): string => {
  const what = sends === 'missed' ? ['missed event', 'missed events'] : ['delivery', 'deliveries'];
  return `${count.toLocaleString('en')} ${what[count === 1 ? 0 : 1]}`;
};

const ENDS: Record<Sends, string> = {
  again: ' again',
  now: ' now',
  undelivered: '',
  missed: '',
};

/** The text of the button that starts it: `Send 3 deliveries again`. */
export const sendText = (count: number, sends: Sends): string =>
  `Send ${countOf(count, sends)}${ENDS[sends]}`;

/** The text of a button that opens the dialog: `Send 3 again`. */
export const shortSendText = (count: number, sends: Sends): string =>
  `Send ${count.toLocaleString('en')}${ENDS[sends]}`;

/** The text of the button that sends single deliveries: `Send 2 selected again`, `Send 1 again and 1 now`. */
export function selectedText(states: readonly DeliveryState[]): string {
  const again = states.filter(isFinished).length;
  const now = states.length - again;
  if (again > 0 && now > 0) return `Send ${again} again and ${now} now`;
  return `Send ${states.length} selected ${now > 0 ? 'now' : 'again'}`;
}

type Outlook = Pick<Schemas['ReplayCount'], 'now' | 'waiting'>;
type LeftOut = Pick<Schemas['ReplayCount'], 'leftOutFor'>;
type DryRun = Outlook & Pick<Schemas['ReplayCount'], 'deliveries'>;

/** How many go now, and how many wait for what; undefined if none is left. */
function goes(outlook: Outlook): string | undefined {
  const { now } = outlook;
  const waits = outlookText(outlook);
  if (waits !== undefined) return waits;
  if (now === 0) return undefined;
  return now === 1 ? '1 goes now' : `all ${now.toLocaleString('en')} go now`;
}

/** What a dry run says: `3 deliveries: 2 go now, 1 waits for a paused subscription.` */
export function dryRunText(count: DryRun, sends: Sends): string {
  if (count.deliveries === 0) return 'There is nothing to send.';
  return `${countOf(count.deliveries, sends)}: ${goes(count) ?? 'none goes now'}.`;
}

/** What is offered, with the numbers of its dry run: `Send 3 deliveries again: all 3 go now`. */
export const offerText = (count: DryRun, sends: Sends): string =>
  `${sendText(count.deliveries, sends)}: ${goes(count) ?? 'none goes now'}`;

/** Which others are left out, and why, as a sentence; undefined if none is. */
export function leftOutSentence({ leftOutFor }: LeftOut): string | undefined {
  const text = leftOutText(leftOutFor);
  return text && `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** How far sending has come, in the words of the dry run. */
export function progressText(
  replay: Outlook & LeftOut & Pick<Schemas['Replay'], 'state' | 'replayed' | 'total'>,
): string {
  const going = goes(replay);
  const told = going === undefined ? '' : ` ${going.charAt(0).toUpperCase()}${going.slice(1)}.`;
  const leftOut = leftOutSentence(replay);
  const others = leftOut === undefined ? '' : ` ${leftOut}`;
  const { state, replayed, total } = replay;
  if (state === 'running') return `It is running.${told}${others}`;
  if (state === 'cancelled') {
    return `It was cancelled. What had started is still sent.${told}${others}`;
  }
  const rest = replayed < total ? ` ${total - replayed} could no longer be sent.` : '';
  return `It is complete.${told || (rest ? '' : ' All are finished.')}${rest}${others}`;
}

type Target = Pick<Schemas['Webhook'], 'enabled' | 'paused' | 'health'>;

/**
 * What sending one delivery would do, if that is not plain: see `Send now` and `Send again`.
 * @param target undefined if it is unknown or deleted
 * @param now ms
 */
export function sendHint(
  { state }: Pick<Schemas['Delivery'], 'state'>,
  target: Target | undefined,
  now: number,
): string | undefined {
  if (state === 'parked') {
    return '“Send now” tries it at once anyway, and keeps its schedule.';
  }
  if (!isFinished(state) || !target) return undefined;
  if (!target.enabled) return 'To send it again, enable its subscription first.';
  if (target.paused) return 'Sent again, it waits until you resume the subscription.';
  const { health } = target;
  const isOpen = health?.state === 'open' && Date.parse(health.until ?? '') > now;
  return isOpen
    ? 'Sent again, it waits for the next try of its subscription, or a successful test.'
    : undefined;
}
