import './installation.css';
import { useQuery } from '@tanstack/react-query';
import { CircleAlert, CircleCheck, CircleX } from 'lucide-react';
import { Problem } from '../../app/problem.js';
import { Pill } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { LocalTime, useNow } from '../../components/time.js';
import { FailingTargets } from './failing-targets.js';
import { Counts } from './figures.js';
import { type Finding, healthOf } from './health.js';
import { type Overview, overviewQuery } from './installation.queries.js';
import { Processes } from './processes.js';
import { Storage } from './storage.js';

const MINUTE_MS = 60_000;

/** The state of the whole installation, for the platform. */
export default function InstallationPage() {
  const { data, error, dataUpdatedAt } = useQuery(overviewQuery);
  const now = useNow((time) => Math.floor(time / MINUTE_MS) * MINUTE_MS);
  const health = data && healthOf(data, now);
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
            What you see is from <LocalTime at={new Date(dataUpdatedAt).toISOString()} />.
          </>
        )}
      </Problem>
      {data && health && <Shown overview={data} findings={health.findings} />}
    </Page>
  );
}

const ICONS = { good: CircleCheck, waiting: CircleAlert, bad: CircleX } as const;

function Shown({ overview, findings }: { overview: Overview; findings: readonly Finding[] }) {
  return (
    <div className="installation">
      <ul className="card checks" aria-label="Checks">
        {findings.map(({ tone, text, advice }) => {
          const Icon = ICONS[tone];
          return (
            <li key={text} className={tone}>
              <Icon size={16} aria-hidden />
              <span>
                {text} {advice !== undefined && <span className="quiet">{advice}</span>}
              </span>
            </li>
          );
        })}
      </ul>
      <Counts overview={overview} />
      <FailingTargets failing={overview.failing} />
      <Processes workers={overview.workers} apis={overview.apis} />
      <Storage overview={overview} />
    </div>
  );
}
