import '../styles/chart.css';
import { lazy, Suspense, useState } from 'react';
import { type ChartKind, type Series, type Span, spanNames } from './chart-data.js';

const Plot = lazy(() => import('./plot.js').catch(() => ({ default: NoPlot })));

/** The table is enough to go on with. */
function NoPlot() {
  return (
    <div className="plot quiet">The chart cannot be shown. The table below has its numbers.</div>
  );
}

/**
 * A chart over time, and its numbers as a table. A series must keep its identity while nothing changes, or the
 * chart is drawn again.
 */
export function Chart({
  label,
  kind,
  spans,
  series,
  textOf,
}: {
  label: string;
  kind: ChartKind;
  spans: readonly Span[];
  series: readonly Series[];
  textOf: (value: number) => string;
}) {
  const [pointed, setPointed] = useState<number>();
  const names = spanNames(spans);
  const valueText = (value: number | null | undefined) =>
    value === null || value === undefined ? '–' : textOf(value);
  return (
    <figure className="chart">
      <figcaption>
        <span className="strong">{label}</span>
        <ul className="legend">
          {series.map(({ name, colour }) => (
            <li key={name} className={`of-${colour}`}>
              {name}
            </li>
          ))}
        </ul>
      </figcaption>
      {/* The table says the same. */}
      <div aria-hidden="true">
        <Suspense fallback={<div className="plot" />}>
          <Plot kind={kind} spans={spans} series={series} textOf={textOf} onPoint={setPointed} />
        </Suspense>
        <p className="readout quiet">
          {pointed !== undefined &&
            [
              names[pointed],
              ...series.map(({ name, values }) => `${name} ${valueText(values[pointed])}`),
            ].join(' · ')}
        </p>
      </div>
      <details>
        <summary>{label} as a table</summary>
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
      </details>
    </figure>
  );
}
