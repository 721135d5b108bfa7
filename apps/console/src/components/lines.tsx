import { Children, type ReactElement, type ReactNode, useMemo } from 'react';
import { Listing, useStandingRows } from './standing.js';

/** A column header; an object if it is not plain, left-aligned text. */
type Head = string | { name: string; kind: 'number' | 'wide' | 'hidden' };

/**
 * A short table that renders all of its rows; use `Table` for many.
 * @param heads of the kinds `number` (right-aligned), `wide` (omitted on phones) and `hidden` (for screen readers)
 */
export function Lines({ heads, children }: { heads: readonly Head[]; children: ReactNode }) {
  return (
    <div className="scrolling">
      <table className="lines">
        <thead>
          <tr>
            {heads.map((head) => {
              if (typeof head === 'string') {
                return (
                  <th key={head} scope="col">
                    {head}
                  </th>
                );
              }
              const { name, kind } = head;
              return (
                <th key={name} scope="col" className={kind === 'hidden' ? undefined : kind}>
                  {kind === 'hidden' ? <span className="hidden">{name}</span> : name}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** {@link Lines} that come and go by themselves. They stand still while somebody points at them. */
export function LiveLines({
  heads,
  children,
}: {
  heads: readonly Head[];
  /** Rows with keys. */
  children: ReactNode;
}) {
  const rows = useMemo(() => Children.toArray(children) as ReactElement[], [children]);
  const standing = useStandingRows(rows, keyOf, '');
  return (
    <Listing of={standing}>
      <Lines heads={heads}>{standing.rows}</Lines>
    </Listing>
  );
}

const keyOf = ({ key }: ReactElement): string => key ?? '';

/** The header of a column of numbers. */
export const number = (name: string): Head => ({ name, kind: 'number' });
/** The header of a column that phones omit. */
export const wide = (name: string): Head => ({ name, kind: 'wide' });
/** The header of a column of buttons. */
export const BUTTONS: Head = { name: 'Actions', kind: 'hidden' };
