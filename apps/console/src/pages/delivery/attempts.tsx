import { CopyButton } from '../../components/copy-button.js';
import { Badge, EmptyState, type Tone } from '../../components/notice.js';
import { durationText } from '../../components/time-text.js';
import { LocalTime } from '../../components/time.js';
import { TimeLine } from '../../components/time-line.js';
import { curlOf } from './curl.js';
import type { Attempt } from './delivery.queries.js';
import { partsOf } from './parts.js';

/** The attempts of a delivery, newest first; the newest is unfolded. */
export function Attempts({
  attempts,
  body,
}: {
  attempts: readonly Attempt[];
  body: string | undefined;
}) {
  if (attempts.length === 0) {
    return <EmptyState title="There was no attempt yet. One appears here by itself." />;
  }
  const moments = attempts.toReversed().map((attempt, index) => ({
    key: attempt.number,
    tone: toneOf(attempt),
    summary: (
      <>
        <span className="strong">Attempt {attempt.number}</span>{' '}
        <Badge tone={toneOf(attempt)}>{attempt.status ?? attempt.error ?? 'no answer'}</Badge>{' '}
        <span className="quiet">
          <LocalTime at={attempt.at} />, {durationText(attempt.durationMs)}
        </span>
      </>
    ),
    content: <Details attempt={attempt} body={body} />,
    isOpen: index === 0,
  }));
  return <TimeLine label="Attempts, newest first" moments={moments} />;
}

function toneOf({ status = 0 }: Attempt): Tone {
  return status >= 200 && status < 300 ? 'good' : 'bad';
}

function Details({ attempt, body }: { attempt: Attempt; body: string | undefined }) {
  const { request, responseHeaders, responseBody, address } = attempt;
  return (
    <div className="attempt">
      <Parts attempt={attempt} />
      {address !== undefined && (
        <p>
          Called address: <code>{address}</code>
        </p>
      )}
      {request && (
        <>
          <h3>Request</h3>
          <pre tabIndex={0} aria-label="Request">
            {request.method} {request.url}
            {'\n'}
            {Object.entries(request.headers).map(([name, value]) => `${name}: ${value}\n`)}
          </pre>
          {body !== undefined && <CopyButton label="Copy as curl" text={curlOf(request, body)} />}
        </>
      )}
      <h3>Response</h3>
      {attempt.status === undefined ? (
        <p>There was none.</p>
      ) : (
        <pre tabIndex={0} aria-label="Response">
          {attempt.status}
          {'\n'}
          {headerLines(responseHeaders ?? {})}
          {'\n'}
          {responseBody}
          {attempt.truncated && '\n… (the rest was not kept)'}
        </pre>
      )}
    </div>
  );
}

function headerLines(headers: Record<string, unknown>): string {
  return Object.entries(headers)
    .flatMap(([name, value]) => [value].flat().map((each) => `${name}: ${String(each)}\n`))
    .join('');
}

function Parts({ attempt }: { attempt: Attempt }) {
  const parts = partsOf(attempt);
  if (parts.length === 0) return null;
  return (
    <table className="phases">
      <caption className="hidden">How long each part took</caption>
      <tbody>
        {parts.map(({ label, ms, share }) => (
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
  );
}
