import type { Series } from '../../components/chart-data.js';
import type { Schemas } from '../../app/api.js';

type History = Schemas['AttemptHistory'];

type Outcomes = History['outcomes'];

const SUCCESS = '2xx';

/** How attempts without a 2xx ended. */
const FAILURES: Record<string, string> = {
  '1xx': 'were answered with 1xx',
  '3xx': 'were redirected (3xx)',
  '4xx': 'were refused (4xx)',
  '5xx': 'got a server error (5xx)',
  dns: 'could not resolve the host',
  refused: 'could not connect',
  reset: 'lost the connection',
  timeout: 'timed out',
  tls: 'failed the TLS handshake',
  blocked: 'led to an address that may not be called',
  protocol: 'were answered with invalid HTTP',
};

const succeeded = (outcomes: Outcomes): number => outcomes[SUCCESS] ?? 0;

/** How many attempts failed. */
export const failedOf = ({ attempts, outcomes }: Pick<History, 'attempts' | 'outcomes'>): number =>
  attempts - succeeded(outcomes);

/** The number of failed attempts by outcome, the most frequent first. */
export function failuresOf(outcomes: Outcomes): { outcome: string; text: string; count: number }[] {
  return Object.entries(outcomes)
    .filter(([outcome]) => outcome !== SUCCESS)
    .map(([outcome, count]) => ({
      outcome,
      text: FAILURES[outcome] ?? `ended with ${outcome}`,
      count,
    }))
    .sort((one, other) => other.count - one.count);
}

/**
 * The share of successful attempts, such as `99.9%`; undefined without attempts. Rounded down, so that only all are
 * `100%`.
 */
export function successText({
  attempts,
  outcomes,
}: Pick<History, 'attempts' | 'outcomes'>): string | undefined {
  if (attempts === 0) return undefined;
  return `${Math.floor((succeeded(outcomes) * 1_000) / attempts) / 10}%`;
}

/** The colour of a share of successful attempts: red if more than 1% failed. */
export const rateTone = (succeeded: number, failed: number): 'good' | 'bad' =>
  failed * 100 <= succeeded + failed ? 'good' : 'bad';

/**
 * How many attempts succeeded in a second, such as `12 a second`; undefined if it was less than one in ten seconds.
 * @param buckets the last of which is incomplete
 */
export function rateText(buckets: History['buckets']): string | undefined {
  const complete = buckets.slice(0, -1);
  const count = complete.reduce((sum, { outcomes }) => sum + succeeded(outcomes), 0);
  const [first, last] = [complete.at(0), complete.at(-1)];
  if (!first || !last) return undefined;
  const rate = (count * 1_000) / (Date.parse(last.until) - Date.parse(first.since));
  if (rate < 0.1) return undefined;
  const digits = rate < 10 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 0 };
  return `${rate.toLocaleString('en', digits)} a second`;
}

/** The series of the charts. */
export function chartsOf({ buckets }: Pick<History, 'buckets'>): {
  outcomes: Series[];
  answers: Series[];
} {
  const outcomes: Series[] = [
    {
      name: 'Succeeded',
      colour: 'good',
      values: buckets.map((bucket) => succeeded(bucket.outcomes)),
    },
    {
      name: 'Failed',
      colour: 'bad',
      values: buckets.map((bucket) => bucket.attempts - succeeded(bucket.outcomes)),
    },
  ];
  const answers: Series[] = [
    {
      name: 'p50',
      colour: 'accent',
      values: buckets.map(({ answerMs }) => answerMs?.p50 ?? null),
    },
    {
      name: 'p95',
      colour: 'warn',
      values: buckets.map(({ answerMs }) => answerMs?.p95 ?? null),
    },
    {
      name: 'p99',
      colour: 'bad',
      values: buckets.map(({ answerMs }) => answerMs?.p99 ?? null),
    },
  ];
  return { outcomes, answers };
}
