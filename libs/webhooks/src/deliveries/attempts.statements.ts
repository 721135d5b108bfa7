import { type RowOf, statement, withoutNulls } from '#libs/runtime';
import { type Span, within } from '../partitions/partition-days.js';
import { MASK, userinfoOf } from '../subscriptions/domain/target-url.js';
import {
  type Attempt,
  type AttemptDetail,
  type AttemptPhases,
  SILENCE,
} from './domain/delivery.js';

/** `after`: the number of the previous attempt. A lease's number is never lower than its attempt's. */
export const ATTEMPT_COLUMNS = `number, at, duration_ms AS "durationMs", status, error, address,
  response_headers::json AS "responseHeaders", response_body AS "responseBody", truncated, sent`;

export const LIST_ATTEMPTS = statement<{ id: string; after: number; limit: number }, AttemptRow>(`
SELECT delivery_id AS "deliveryId", ${ATTEMPT_COLUMNS}
FROM attempts WHERE delivery_id = @id AND take >= @after AND number > @after
ORDER BY take LIMIT @limit`);

/**
 * Whether @status names the result of a delivery's last attempt: its status, the class of it, its error, or
 * `failed` for all but 2xx. Looks up the attempt of each delivery: for a join, the planner would read all attempts.
 */
export const hasResult = (
  deliveryId: string,
  span: Span,
): string => `(@status::text IS NULL OR @status IN (
      SELECT unnest(ARRAY[status::text, status / 100 || 'xx', error,
        CASE WHEN status / 100 = 2 THEN NULL ELSE 'failed' END]) FROM (
        SELECT status, error FROM attempts
        WHERE delivery_id = ${deliveryId} AND ${within('delivery_id', span)} ORDER BY take DESC LIMIT 1
      ) last
    ))`;

/** Whether a delivery's last attempt failed in a way that may be our own network's fault. */
export const wasSilent = (deliveryId: string, span: Span): string => `coalesce((
        SELECT error = ANY ('{${SILENCE.join(',')}}') FROM attempts
        WHERE delivery_id = ${deliveryId} AND ${within('delivery_id', span)} ORDER BY take DESC LIMIT 1
      ), false)`;

/** Headers whose values are stored. `webhook-id` and `webhook-timestamp` follow from the attempt. */
const USER_AGENT = 'user-agent';
const SIGNATURE = 'webhook-signature';
const REPLAYED = 'webhook-replayed';
const PHASES: (keyof AttemptPhases)[] = ['queued', 'dns', 'connect', 'tls', 'firstByte', 'body'];

/**
 * The request, phases and detail of an attempt as a line each: URL, user agent, signature, names of the customer's own
 * headers, phases, and the detail if there is one. A delivery pays for every byte, and JSON would have five times as
 * many.
 */
export function sentText({ request, phases = {}, detail }: Attempt): string | undefined {
  if (!request) return undefined;
  const { url, headers } = request;
  const own = [];
  for (const name in headers) {
    if (name === REPLAYED || (headers[name] === MASK && name !== 'authorization')) own.push(name);
  }
  if (headers.authorization === MASK && userinfoOf(url) === undefined) own.push('authorization');
  const times = PHASES.map((phase) => {
    const ms = phases[phase];
    return ms === undefined ? '' : Math.round(ms);
  }).join(' ');
  const lines = [url, headers[USER_AGENT] ?? '', headers[SIGNATURE] ?? '', own.join(' '), times];
  return (detail === undefined ? lines : [...lines, detail]).join('\n');
}

/** The detail in {@link sentText}; null for none. */
export const DETAIL = `nullif(split_part(sent, E'\\n', 6), '')`;

export type AttemptRow = RowOf<Omit<Attempt, 'request' | 'phases' | 'detail'>> & {
  deliveryId: string;
  sent: string | null;
};

export function attemptOf({ deliveryId, sent, ...row }: AttemptRow): Attempt {
  const attempt = withoutNulls<Omit<Attempt, 'request' | 'phases' | 'detail'>>(row);
  if (sent === null) return attempt;
  const [url = '', userAgent = '', signature = '', own = '', times = '', detail] = sent.split('\n');
  const names = own === '' ? [] : own.split(' ');
  const masked = names.filter((name) => name !== REPLAYED).map((name) => [name, MASK] as const);
  const took = times.split(' ').map((ms, at) => [PHASES[at]!, ms] as const);
  return {
    ...attempt,
    ...(detail !== undefined && { detail: detail as AttemptDetail }),
    request: {
      method: 'POST',
      url,
      headers: {
        ...(userinfoOf(url) !== undefined && { authorization: MASK }),
        ...Object.fromEntries(masked),
        'content-type': 'application/json',
        [USER_AGENT]: userAgent,
        ...(names.includes(REPLAYED) && { [REPLAYED]: 'true' }),
        'webhook-id': deliveryId,
        'webhook-timestamp': String(Math.floor(attempt.at.getTime() / 1_000)),
        [SIGNATURE]: signature,
      },
    },
    phases: Object.fromEntries(
      took.filter(([, ms]) => ms !== '').map(([of, ms]) => [of, Number(ms)]),
    ),
  };
}
