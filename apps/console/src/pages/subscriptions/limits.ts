/** The limits of subscriptions, of the account and of each application. Disabled ones count, too. */
export const MAX_SUBSCRIPTIONS = 10;

/** `3 of 10 subscriptions`, and what to do at the limit. */
export function roomText(count: number): string {
  const used = `${count} of ${MAX_SUBSCRIPTIONS} subscriptions`;
  return count < MAX_SUBSCRIPTIONS
    ? `${used}.`
    : `${used}: the limit is reached. Delete one to make room; disabled ones count, too.`;
}

/**
 * Why no other one can be created there, and what to do.
 * @param applicationId empty for the whole account
 */
export function fullText(applicationId: string): string {
  const used = `${MAX_SUBSCRIPTIONS} of ${MAX_SUBSCRIPTIONS} subscriptions`;
  return applicationId === ''
    ? `The whole account has ${used}: choose an application, or delete one.`
    : `This application has ${used}: choose another one, or delete a subscription.`;
}

export const isFull = (count: number): boolean => count >= MAX_SUBSCRIPTIONS;
