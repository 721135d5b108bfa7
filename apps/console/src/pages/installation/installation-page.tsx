import './installation.css';
import { useQuery } from '@tanstack/react-query';
import { CircleAlert, CircleCheck, CircleX } from 'lucide-react';
import { Problem } from '../../app/problem.js';
import { Pill } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { SkeletonRows } from '../../components/skeleton.js';
import { LocalTime, useNow } from '../../components/time.js';
import { topLoadsQuery } from '../load/load.queries.js';
import { TopLoads } from '../load/top-loads.js';
import { AttemptFigures, RangePicker, useRange } from '../overview/statistics.js';
import { installationStatisticsQuery } from '../overview/statistics.queries.js';
import { FailingTargets, LosingSubscriptions } from './failing-targets.js';
import { Counts } from './figures.js';
import { type Finding, type Health, healthOf } from './health.js';
import { overviewQuery } from './installation.queries.js';
import { Processes } from './processes.js';
import { Storage } from './storage.js';

const MINUTE_MS = 60_000;

/** The state of the whole installation, for the platform. */
export default function InstallationPage() {
  const { data, error, isPending, dataUpdatedAt } = useQuery(overviewQuery);
  const loads = useQuery(topLoadsQuery);
  const now = useNow((time) => Math.floor(time / MINUTE_MS) * MINUTE_MS);
  const health = data && healthOf(data.overview, now);
  return (
    <Page
      title="Installation"
      state={
        health && (
          <span role="status">
            <Pill tone={health.tone}>{health.summary}</Pill>
          </span>
        )
      }
    >
      <Problem error={error}>
        {data && (
          <>
            {' '}
            This data is from <LocalTime at={new Date(dataUpdatedAt).toISOString()} />.
          </>
        )}
      </Problem>
      {(isPending || loads.isPending) && <SkeletonRows rowHeight={41} />}
      {data && health && !loads.isPending && (
        <div className="installation">
          <Checks health={health} />
          <Attempts isDown={error !== null} />
          <Counts {...data} />
          <TopLoads data={loads.data} error={loads.error} />
          <FailingTargets failing={data.overview.failing} />
          <LosingSubscriptions losing={data.overview.losing} />
          <Processes workers={data.overview.workers} apis={data.overview.apis} />
          <Storage overview={data.overview} />
        </div>
      )}
    </Page>
  );
}

const ICONS = { good: CircleCheck, waiting: CircleAlert, bad: CircleX } as const;

/** The attempts of all accounts in a time range. @param isDown whether the page has said already that nothing can be read */
function Attempts({ isDown }: { isDown: boolean }) {
  const { data, error } = useQuery(installationStatisticsQuery(useRange()));
  return (
    <section className="attempts" aria-labelledby="attempts">
      <header>
        <h2 id="attempts">Attempts</h2>
        <RangePicker isSmall />
      </header>
      {!isDown && <Problem error={error} />}
      {data && <AttemptFigures history={data} hasRate />}
    </section>
  );
}

/** All checks in a row, and below it the problems with advice. */
function Checks({ health: { findings, problems } }: { health: Health }) {
  return (
    <section className="card" aria-label="Checks">
      <ul className="checks">
        {findings.map(({ tone, check, text }) => (
          <li key={check} className={tone} title={text}>
            <Sign tone={tone} />
            {check}
          </li>
        ))}
      </ul>
      {problems.length > 0 && (
        <ul className="problems">
          {problems.map(({ tone, check, text, advice }) => (
            <li key={check} className={tone}>
              <Sign tone={tone} />
              <p>
                {text} {advice !== undefined && <span className="muted">{advice}</span>}
              </p>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Sign({ tone }: Pick<Finding, 'tone'>) {
  const Icon = ICONS[tone];
  return <Icon size={16} aria-hidden />;
}
