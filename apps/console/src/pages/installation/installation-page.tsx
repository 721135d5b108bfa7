import './installation.css';
import { useQuery } from '@tanstack/react-query';
import { Problem } from '../../app/problem.js';
import { Notice } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { LocalTime, useNow } from '../../components/time.js';
import { FailingTargets } from './failing-targets.js';
import { Figures } from './figures.js';
import { healthOf } from './health.js';
import { type Overview, overviewQuery } from './installation.queries.js';
import { Processes } from './processes.js';
import { Storage } from './storage.js';

const MINUTE_MS = 60_000;

/** The state of the whole installation, for the platform. */
export default function InstallationPage() {
  const { data, error, dataUpdatedAt } = useQuery(overviewQuery);
  return (
    <Page title="Installation">
      <Problem error={error}>
        {data && (
          <>
            {' '}
            What you see is from <LocalTime at={new Date(dataUpdatedAt).toISOString()} />.
          </>
        )}
      </Problem>
      {data && <Shown overview={data} />}
    </Page>
  );
}

function Shown({ overview }: { overview: Overview }) {
  const now = useNow((time) => Math.floor(time / MINUTE_MS) * MINUTE_MS);
  const { tone, summary, findings } = healthOf(overview, now);
  return (
    <>
      <section className="health" aria-label="Health">
        <Notice tone={tone}>
          <p className="strong" role="status">
            {summary}
          </p>
          <ul>
            {findings.map(({ tone: toneOfOne, text, advice }) => (
              <li key={text} className={toneOfOne}>
                {text} {advice !== undefined && <span className="quiet">{advice}</span>}
              </li>
            ))}
          </ul>
        </Notice>
      </section>
      <Figures overview={overview} />
      <FailingTargets failing={overview.failing} />
      <Processes title="Workers" processes={overview.workers} />
      <Processes title="APIs" processes={overview.apis} />
      <Storage overview={overview} />
    </>
  );
}
