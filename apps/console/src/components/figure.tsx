import '../styles/figure.css';
import type { ReactNode } from 'react';

const WIDTH = 76;
const HEIGHT = 24;

/** A row of figures. */
export function Figures({ children }: { children: ReactNode }) {
  return <dl className="figures">{children}</dl>;
}

/** A number with its unit, its name and its recent values. */
export function Figure({
  name,
  note,
  course,
  colour = 'accent',
  children,
}: {
  name: string;
  /** Below the number. */
  note?: ReactNode;
  /** Recent values, oldest first; null where there is none. */
  course?: readonly (number | null)[] | undefined;
  colour?: 'accent' | 'good' | 'bad' | 'warn';
  /** The number. */
  children: ReactNode;
}) {
  return (
    <div className="card figure">
      <dt>{name}</dt>
      <dd>{children}</dd>
      {note !== undefined && <dd className="quiet">{note}</dd>}
      {course && <Course values={course} colour={colour} />}
    </div>
  );
}

/** Hidden from screen readers: the charts have the numbers. */
function Course({ values, colour }: { values: readonly (number | null)[]; colour: string }) {
  const numbers = values.filter((value) => value !== null);
  const highest = Math.max(...numbers, 1e-9);
  // Draw a constant line in the middle, or at the bottom if it is zero.
  const most = Math.min(...numbers) === highest ? 2 * highest : highest;
  const step = WIDTH / Math.max(values.length - 1, 1);
  const points = values.flatMap((value, index) =>
    value === null ? [] : [`${index * step},${HEIGHT - 1 - (value / most) * (HEIGHT - 2)}`],
  );
  return (
    <dd className="course" aria-hidden>
      <svg
        className={`of-${colour}`}
        width={WIDTH}
        height={HEIGHT}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      >
        <polyline points={points.join(' ')} />
      </svg>
    </dd>
  );
}
