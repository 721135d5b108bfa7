import './overview.css';
import { type ReactNode, useMemo } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { Problem } from '../../app/problem.js';
import { Chart } from '../../components/chart.js';
import type { Series } from '../../components/chart-data.js';
import { Figure, Figures } from '../../components/figure.js';
import { durationText } from '../../components/time-text.js';
import { RelativeTime } from '../../components/time.js';
import { chartsOf, failedOf, failuresOf, rateText, rateTone, successText } from './outcomes.js';
import { nameBefore, type Range, RANGE_NAMES, rangeOf } from './ranges.js';
import type { History } from './statistics.queries.js';

/** The time range in the address. */
export function useRange(): Range {
  const [search] = useSearchParams();
  return rangeOf(search.get('range'));
}

/** Switches the time range. */
export function RangePicker({
  ranges = RANGE_NAMES,
  isSmall = false,
}: {
  ranges?: typeof RANGE_NAMES;
  isSmall?: boolean;
}) {
  const [location] = useLocation();
  const [search] = useSearchParams();
  const current = rangeOf(search.get('range'));
  return (
    <nav className={isSmall ? 'segments small' : 'segments'} aria-label="Time range">
      {ranges.map(({ range, name }) => {
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

/** The attempts of a time range: figures, and charts. */
export function Statistics({
  history,
  error,
  tools,
}: {
  history: History | undefined;
  error?: Error | null;
  /** In the header of the first chart. */
  tools?: ReactNode;
}) {
  return (
    <>
      <Problem error={error} />
      {history && <Shown history={history} tools={tools} />}
    </>
  );
}

/** The attempts of a time range as figures. */
export function AttemptFigures({
  history,
  hasRate = false,
}: {
  history: History;
  /** Whether to say how many were delivered in a second. */
  hasRate?: boolean;
}) {
  const { attempts, outcomes, answerMs, buckets, before, waiting } = history;
  const charts = useMemo(() => chartsOf({ buckets }), [buckets]);
  // The last bucket is incomplete.
  const courseOf = ({ values }: Series) => values.slice(0, -1);
  const [succeeded, failed] = charts.outcomes.map(courseOf);
  const [, p95] = charts.answers.map(courseOf);
  const failedCount = failedOf({ attempts, outcomes });
  const rate = hasRate ? rateText(buckets) : undefined;
  return (
    <Figures>
      <Figure
        name="Delivered"
        colour="good"
        course={succeeded}
        note={
          attempts === 0 ? (
            'no attempts in this period'
          ) : (
            <>
              <span className={`toned ${rateTone(attempts - failedCount, failedCount)}`}>
                {successText(history)}
              </span>
              {rate === undefined ? ' of attempts' : ` · ${rate}`}
            </>
          )
        }
      >
        {countText(attempts - failedCount)}
      </Figure>
      <Figure
        name="Failed attempts"
        colour="bad"
        course={failed}
        note={<Change count={failedCount} before={failedOf(before)} />}
      >
        {countText(failedCount)}
      </Figure>
      {waiting && (
        <Figure
          name="Waiting"
          note={
            waiting.since === undefined ? (
              'nothing is waiting'
            ) : (
              <>
                oldest from <RelativeTime at={waiting.since} />
              </>
            )
          }
        >
          {countText(waiting.deliveries)}
        </Figure>
      )}
      <Figure
        name="Answer time, p95"
        course={p95}
        note={
          answerMs
            ? `p50 ${durationText(answerMs.p50)} · p99 ${durationText(answerMs.p99)}`
            : 'no answers in this period'
        }
      >
        {answerMs ? durationText(answerMs.p95) : '–'}
      </Figure>
    </Figures>
  );
}

function Shown({ history, tools }: { history: History; tools: ReactNode }) {
  const { attempts, outcomes, buckets } = history;
  const charts = useMemo(() => chartsOf({ buckets }), [buckets]);
  const failures = failuresOf(outcomes);
  return (
    <>
      <AttemptFigures history={history} />
      <div className="charts">
        <div className="card">
          <Chart
            label="Attempts"
            kind="bars"
            spans={buckets}
            series={charts.outcomes}
            textOf={countText}
            note={attempts > 0 && <Failures of={failures} />}
            tools={tools}
          />
        </div>
        <div className="card">
          <Chart
            label="Answer time"
            kind="lines"
            spans={buckets}
            series={charts.answers}
            textOf={durationText}
          />
        </div>
      </div>
    </>
  );
}

/** The difference to the number of failures in the range before. */
function Change({ count, before }: { count: number; before: number }) {
  const name = nameBefore(useRange());
  const change = count - before;
  if (change === 0) return count === 0 ? 'none' : `the same as ${name}`;
  return (
    <>
      <span className={`toned ${change > 0 ? 'bad' : 'good'}`}>
        {countText(Math.abs(change))} {change > 0 ? 'more' : 'fewer'}
      </span>{' '}
      than {name}
    </>
  );
}

/** The number of failed attempts by outcome. */
function Failures({ of }: { of: ReturnType<typeof failuresOf> }) {
  if (of.length === 0) return 'All attempts succeeded.';
  return (
    <ul className="failures" aria-label="Failed attempts by outcome">
      {of.map(({ outcome, text, count }) => (
        <li key={outcome} title={`Attempts that ${text}: ${countText(count)}`}>
          <span className="code bad">{outcome}</span> {countText(count)}
        </li>
      ))}
    </ul>
  );
}
