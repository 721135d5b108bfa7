import './overview.css';
import { type ReactNode, useMemo } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { Problem } from '../../app/problem.js';
import { Chart } from '../../components/chart.js';
import { durationText } from '../../components/time-text.js';
import { LocalTime } from '../../components/time.js';
import { chartsOf, failuresOf, successText } from './outcomes.js';
import { type Range, RANGE_NAMES, rangeOf } from './ranges.js';
import type { History } from './statistics.queries.js';

/** The time range in the address. */
export function useRange(): Range {
  const [search] = useSearchParams();
  return rangeOf(search.get('range'));
}

/** Switches the time range. */
function RangePicker() {
  const [location] = useLocation();
  const [search] = useSearchParams();
  const current = rangeOf(search.get('range'));
  return (
    <nav className="ranges" aria-label="Time range">
      {RANGE_NAMES.map(({ range, name }) => {
        const next = new URLSearchParams(search);
        next.set('range', range);
        return (
          <Link
            key={range}
            href={`${location}?${next.toString()}`}
            aria-current={range === current ? 'true' : undefined}
          >
            {name}
          </Link>
        );
      })}
    </nav>
  );
}

const countText = (count: number): string => count.toLocaleString('en');

/** How the attempts of a time range went. */
export function StatisticsSection({
  history,
  error,
}: {
  history: History | undefined;
  error?: Error | null;
}) {
  return (
    <section aria-labelledby="statistics">
      <div className="tools">
        <h2 id="statistics">Attempts</h2>
        <RangePicker />
      </div>
      {history && <Statistics history={history} />}
      <Problem error={error} />
    </section>
  );
}

/** Numbers, and charts. */
function Statistics({ history }: { history: History }) {
  const { since, attempts, outcomes, answerMs, buckets } = history;
  const charts = useMemo(() => chartsOf({ buckets }), [buckets]);
  const failures = failuresOf(outcomes);
  return (
    <>
      <p className="quiet">
        Since <LocalTime at={since} />
      </p>
      <dl className="figures">
        <Figure name="Attempts">{countText(attempts)}</Figure>
        <Figure name="Succeeded">{successText(history) ?? '–'}</Figure>
        <Figure name="Half answered within">{timeText(answerMs?.p50)}</Figure>
        <Figure name="95% answered within">{timeText(answerMs?.p95)}</Figure>
        <Figure name="99% answered within">{timeText(answerMs?.p99)}</Figure>
      </dl>
      <p>
        {attempts === 0
          ? 'There were no attempts in this time.'
          : failures.length === 0
            ? 'All attempts succeeded.'
            : `Of all attempts, ${listOf(failures.map(({ count, text }) => `${countText(count)} ${text}`))}.`}
      </p>
      <Chart
        label="Outcomes"
        kind="bars"
        spans={buckets}
        series={charts.outcomes}
        textOf={countText}
      />
      <Chart
        label="Answer times"
        kind="lines"
        spans={buckets}
        series={charts.answers}
        textOf={durationText}
      />
    </>
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const timeText = (ms: number | undefined): string => (ms === undefined ? '–' : durationText(ms));

const conjunction = new Intl.ListFormat('en');
const listOf = (texts: readonly string[]): string => conjunction.format(texts);
