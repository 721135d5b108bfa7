/** Subscriptions at account level, and of each application. Those that are off count, too. */
export const MAX_SUBSCRIPTIONS = 10;

/** `3 of 10 subscriptions`, and what to do when there is no room. */
export function roomText(count: number): string {
  const used = `${count} of ${MAX_SUBSCRIPTIONS} subscriptions`;
  return count < MAX_SUBSCRIPTIONS
    ? `${used}.`
    : `${used}: that is the limit. To make room, delete one; those that are off count, too.`;
}

export const isFull = (count: number): boolean => count >= MAX_SUBSCRIPTIONS;
