import type { Request } from 'express';
import { type Parameters, schema } from '#libs/http';
import { faultAt, type FieldFault, isNumericId, type Problem, ValidationError } from '#libs/kernel';
import type { ReportedEvent } from '../domain/event.js';

/** The header that names the account of all events in a request, so that a router does not have to read the body. */
export const ACCOUNT_HEADER = 'Switchhook-Account';

const IS_NO_ID: Problem = {
  code: 'format',
  says: 'must be the id of the account of all events in the request',
};
const DIFFERS: Problem = { code: 'conflict', says: 'is not the account of the event' };

/** For the API description. */
export const NAMED_ACCOUNT: Parameters = {
  [ACCOUNT_HEADER]: {
    about: `For a router in front of several installations. It ${IS_NO_ID.says}; events of other accounts are refused.`,
    schema: schema.numericId('', '83346'),
    optional: true,
  },
};

/** The account that a request names. @throws ValidationError */
export function namedAccountOf({ headers }: Request): string | undefined {
  const account = headers[ACCOUNT_HEADER.toLowerCase()];
  if (account === undefined) return undefined;
  // Node.js joins repeated headers with a comma, so they are no id.
  if (typeof account === 'string' && isNumericId(account)) return account;
  throw new ValidationError([faultAt(ACCOUNT_HEADER, IS_NO_ID)]);
}

/** An event in a request that names this account. The store compares it with the account of the application. */
export function ofAccount(
  account: string | undefined,
  read: { event: ReportedEvent } | { faults: FieldFault[] },
): typeof read {
  if (account === undefined || 'faults' in read) return read;
  const { event } = read;
  if (event.accountId !== undefined && event.accountId !== account) {
    return { faults: [faultAt(ACCOUNT_HEADER, DIFFERS)] };
  }
  event.accountId = account;
  return read;
}
