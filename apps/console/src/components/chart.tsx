import '../styles/chart.css';
import { ChevronRight } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { Boundary } from '../app/boundary.js';
import { type ChartKind, type Series, type Span, spanNames } from './chart-data.js';

const Plot = lazy(() => import('./plot.js'));

/**
 * A chart that ends now, with its numbers in a table; only the table if drawing fails. Keep the identity of an
 * unchanged series, or the chart is drawn again.
 */
export function Chart({
  label,
  kind,
  spans,
  series,
  textOf,
  note,
  tools,
}: {
  label: string;
  kind: ChartKind;
  spans: readonly Span[];
  series: readonly Series[];
  textOf: (value: number) => string;
  /** Below the chart, on the right. */
  note?: ReactNode;
  /** In the chart's header, on the right. */
  tools?: ReactNode;
}) {
  const [pointed, setPointed] = useState<number>();
  const names = spanNames(spans);
  const valueText = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : textOf(value);
  const table = (
    <div className="numbers" role="region" tabIndex={0} aria-label={`${label}, table`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {spans.map(({ since }, index) => (
            <tr key={since}>
              <th scope="row">{names[index]}</th>
              {series.map(({ name, values }) => (
                <td key={name}>{valueText(values[index])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
  return (
    <figure className="chart" data-kind={kind}>
      <figcaption>
        {label}
        <ul className="legend">
          {pointed !== undefined && <li className="span">{names[pointed]}</li>}
          {series.map(({ name, colour, values }) => (
            <li key={name} className={`of-${colour}`}>
              {name} {pointed !== undefined && <b>{valueText(values[pointed])}</b>}
            </li>
          ))}
        </ul>
        {tools}
      </figcaption>
      <Boundary fallback={table}>
        {/* The table has the same numbers. */}
        <div aria-hidden="true">
          <Suspense fallback={<div className="plot" />}>
            <Plot kind={kind} spans={spans} series={series} textOf={textOf} onPoint={setPointed} />
          </Suspense>
          {series.every(({ values }) => values.every((value) => !value)) && (
            <p className="nothing quiet">No data in this time</p>
          )}
        </div>
        <div className="below">
          <details>
            <summary>
              <ChevronRight size={14} aria-hidden />
              {label} as a table
            </summary>
            {table}
          </details>
          <div className="quiet">{note}</div>
        </div>
      </Boundary>
    </figure>
  );
}
