import type { Schemas } from '../app/api.js';
import type { Tone } from './notice.js';

/** How an attempt ended: the answer's status, or the error if there was no answer. */
export function AnswerCode({
  status,
  error,
  detail,
}: Pick<Schemas['Attempt'], 'status' | 'error' | 'detail'>) {
  return (
    <span className={`code ${toneOf(status)}`} title={detail}>
      {status ?? error ?? '–'}
    </span>
  );
}

function toneOf(status: number | undefined): Tone {
  if (status === undefined || status >= 500) return 'bad';
  if (status >= 200 && status < 300) return 'good';
  return status === 410 ? 'neutral' : status === 429 ? 'waiting' : 'bad';
}
