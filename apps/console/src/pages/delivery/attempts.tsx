import { type ReactNode, useState } from 'react';
import { AnswerCode } from '../../components/answer-code.js';
import { CopyButton } from '../../components/copy-button.js';
import { JsonText } from '../../components/json-text.js';
import { type Tab, Tabs } from '../../components/tabs.js';
import { durationText } from '../../components/time-text.js';
import { ClockTime } from '../../components/time.js';
import { curlOf } from './curl.js';
import type { Attempt } from './delivery.queries.js';
import { partsOf } from './parts.js';

/** The attempts of a delivery, newest first, and the details of the chosen one. */
export function Attempts({
  attempts,
  older,
  body,
  bodyTab,
}: {
  attempts: readonly Attempt[];
  /** The link to older attempts. */
  older: ReactNode;
  body: string | undefined;
  /** The body, the same in every attempt. */
  bodyTab: Tab;
}) {
  const [chosen, setChosen] = useState<number>();
  const newestFirst = attempts.toReversed();
  const shown = attempts.find(({ number }) => number === chosen) ?? newestFirst[0];
  const hasAddress = attempts.some(({ address }) => address !== undefined);
  const tabs = shown ? [...tabsOf(shown, body), bodyTab] : [bodyTab];
  return (
    <section className="tries" aria-label="Attempts">
      {newestFirst.length > 0 ? (
        <div className="attempts">
          <div className="head" aria-hidden>
            <span>Attempt</span>
            <span>Time</span>
            <span>Answer</span>
            {hasAddress && <span className="address">Address</span>}
            <span className="took">Took</span>
          </div>
          <ol aria-label="Attempts, newest first">
            {newestFirst.map((attempt) => (
              <li key={attempt.number}>
                <button
                  type="button"
                  aria-pressed={attempt === shown}
                  onClick={() => setChosen(attempt.number)}
                >
                  <span className="number">
                    <span className="hidden">Attempt </span>
                    {attempt.number}
                  </span>
                  <ClockTime at={attempt.at} hasClock />
                  <span>
                    <AnswerCode {...attempt} />
                  </span>
                  {hasAddress && <span className="mono address">{attempt.address ?? '–'}</span>}
                  <span className="mono took">{durationText(attempt.durationMs)}</span>
                </button>
              </li>
            ))}
          </ol>
        </div>
      ) : (
        <p className="muted">No attempts yet. They appear here automatically.</p>
      )}
      {older}
      <Tabs
        label={shown ? `Attempt ${shown.number}` : 'Request'}
        tabs={tabs}
        // Without an answer, there is no answer to show.
        first={shown?.status === undefined ? tabs.indexOf(bodyTab) : 0}
      />
    </section>
  );
}

function tabsOf(attempt: Attempt, body: string | undefined): Tab[] {
  const { request, status, detail, responseHeaders, responseBody = '', truncated } = attempt;
  const parts = partsOf(attempt);
  return [
    {
      name: 'Answer',
      content:
        status === undefined ? (
          <p>No answer.{detail !== undefined && ` Cause: ${detail}.`}</p>
        ) : (
          <>
            {responseBody === '' ? (
              <p className="muted">The body was empty.</p>
            ) : (
              <JsonText key={attempt.number} label="Answer body" text={responseBody} />
            )}
            {truncated && <p className="quiet">The rest of the body was not stored.</p>}
            <pre tabIndex={0} aria-label="Answer headers">
              {status}
              {'\n'}
              {headerLines(responseHeaders ?? {})}
            </pre>
          </>
        ),
    },
    ...(request
      ? [
          {
            name: 'Request',
            content: (
              <>
                {body !== undefined && (
                  <div className="tools">
                    <CopyButton label="Copy as curl" text={curlOf(request, body)} />
                  </div>
                )}
                <pre tabIndex={0} aria-label="Request headers">
                  {request.method} {request.url}
                  {'\n'}
                  {headerLines(request.headers)}
                </pre>
              </>
            ),
          },
        ]
      : []),
    ...(parts.length > 0 ? [{ name: 'Timing', content: <Timing attempt={attempt} /> }] : []),
  ];
}

function headerLines(headers: Record<string, unknown>): string {
  return Object.entries(headers)
    .flatMap(([name, value]) => [value].flat().map((each) => `${name}: ${String(each)}\n`))
    .join('');
}

function Timing({ attempt }: { attempt: Attempt }) {
  return (
    <>
      <table className="phases">
        <caption className="hidden">How long each part took</caption>
        <tbody>
          {partsOf(attempt).map(({ label, ms, share }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>{durationText(ms)}</td>
              <td aria-hidden="true">
                {share !== undefined && (
                  <div className="bar-of" style={{ width: `${share * 100}%` }} />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {attempt.address !== undefined && (
        <p className="muted">
          Called address: <code>{attempt.address}</code>
        </p>
      )}
    </>
  );
}
