import type { components } from './api.generated.js';

type Count = components['schemas']['ReplayCount'];
type Outlook = Pick<Count, 'now' | 'waiting'>;
type LeftOut = Count['leftOutFor'];

/** What deliveries wait for, in plain words. */
const REASONS: Record<keyof Outlook['waiting'], string> = {
  paused: 'for a paused subscription',
  circuit: 'for an open circuit',
  schedule: 'for a later time',
  hold: 'for our own network',
  pace: 'for the pace of their subscription',
};

/**
 * How many deliveries go now and how many wait for what, as a sentence without its full stop: `3 go now, 2 wait for a
 * paused subscription`. Undefined if none waits.
 */
export function outlookText({ now, waiting }: Outlook): string | undefined {
  const waits = Object.entries(REASONS).flatMap(([reason, text]) => {
    const count = waiting[reason as keyof typeof REASONS] ?? 0;
    return count === 0 ? [] : [{ count, text }];
  });
  if (waits.length === 0) return undefined;
  const parts = waits.map(({ count, text }, index) => {
    const verb = index > 0 ? '' : count === 1 ? 'waits ' : 'wait ';
    return `${count.toLocaleString('en')} ${verb}${text}`;
  });
  return [
    `${now === 0 ? 'none' : now.toLocaleString('en')} ${now < 2 ? 'goes' : 'go'} now`,
    ...parts,
  ].join(', ');
}

/** What is left out, in plain words: one, and several. */
const LEFT_OUT: Record<keyof LeftOut, [one: string, several: string]> = {
  off: ['for a disabled subscription', 'for disabled subscriptions'],
  deleted: ['for a deleted subscription', 'for deleted subscriptions'],
  test: ['test', 'tests'],
  erased: ['for an erased event', 'for erased events'],
};

/** What is left out and why: `left out: 2 for disabled subscriptions, 1 test`. Undefined if nothing is. */
export function leftOutText(leftOut: LeftOut): string | undefined {
  const parts = Object.entries(LEFT_OUT).flatMap(([reason, [one, several]]) => {
    const count = leftOut[reason as keyof LeftOut] ?? 0;
    return count === 0 ? [] : [`${count.toLocaleString('en')} ${count === 1 ? one : several}`];
  });
  return parts.length === 0 ? undefined : `left out: ${parts.join(', ')}`;
}
