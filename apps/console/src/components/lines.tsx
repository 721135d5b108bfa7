import type { ReactNode } from 'react';

/** A head of a column; an object if it is not plain text on the left. */
type Head = string | { name: string; kind: 'number' | 'wide' | 'hidden' };

/**
 * A short table, all of whose rows are rendered; of many, use a `Table`.
 * @param heads `number`s stand on the right, what is `wide` is left out on phones, `hidden` heads are for screen readers
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

/** The head of a column whose cells are numbers. */
export const number = (name: string): Head => ({ name, kind: 'number' });
/** The head of a column that is left out on phones. */
export const wide = (name: string): Head => ({ name, kind: 'wide' });
/** The head of a column with buttons. */
export const BUTTONS: Head = { name: 'What to do', kind: 'hidden' };
