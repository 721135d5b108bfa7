import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { Link } from 'wouter';

/** A column of a table. The first one is the link to the row's page. */
export interface Column<Row> {
  name: string;
  /** Of the grid, as `2fr` or `8rem`. */
  width: string;
  cell: (row: Row) => ReactNode;
}

/** Which rows are selected, by key. */
export interface Selection<Row> extends Selectable<Row> {
  keys: ReadonlySet<string>;
  select: (keys: Iterable<string>) => void;
}

interface Selectable<Row> {
  /** Whether something can be done with it. */
  allows: (row: Row) => boolean;
  labelOf: (row: Row) => string;
}

/** A selection that begins empty, and anew with other filters. */
export function useSelection<Row>(
  filters: Readonly<Record<string, string>>,
  selectable: Selectable<Row>,
): Selection<Row> {
  const of = JSON.stringify(filters);
  const [selected, setSelected] = useState({ of, keys: new Set<string>() });
  return {
    ...selectable,
    keys: selected.of === of ? selected.keys : NONE,
    select: (keys) => setSelected({ of, keys: new Set(keys) }),
  };
}

const NONE: ReadonlySet<string> = new Set();

/** In CSS pixels, as in the style sheet: rows outside of the window are not rendered. */
const ROW_HEIGHT = 60;
const MARGIN_ROWS = 10;

/**
 * A list of any length: only the rows on the screen are in the page. Arrow keys, Home and End move between them.
 * @param onEnd is called when its end comes near, to load more
 */
export function Table<Row>({
  label,
  rows,
  keyOf,
  hrefOf,
  columns,
  selection,
  onEnd,
}: {
  label: string;
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  hrefOf: (row: Row) => string;
  columns: readonly Column<Row>[];
  selection?: Selection<Row> | undefined;
  onEnd?: () => void;
}) {
  const body = useRef<HTMLDivElement>(null);
  const [start, end] = useRange(body, rows.length);
  const [active, setActive] = useState(0);
  const isNearEnd = end >= rows.length - 2 * MARGIN_ROWS;
  useEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, onEnd, rows.length]);

  function onKeyDown(event: KeyboardEvent): void {
    const last = rows.length - 1;
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: last }[event.key];
    if (to === undefined || to < 0 || to > last) return;
    event.preventDefault();
    setActive(to);
    moveTo(body, to);
  }

  const template = [selection ? '2.5rem' : '', ...columns.map(({ width }) => width)].join(' ');
  const indexes = Array.from({ length: Math.max(end - start, 0) }, (_, index) => start + index);
  // What has the focus stays, wherever the page is scrolled to.
  if (active < rows.length && (active < start || active >= end)) indexes.push(active);
  return (
    <div className="table" role="table" aria-label={label} aria-rowcount={rows.length + 1}>
      <div role="rowgroup" className="head">
        <div role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
          {selection && (
            <span role="columnheader">
              <SelectAll rows={rows} keyOf={keyOf} selection={selection} />
            </span>
          )}
          {columns.map(({ name }) => (
            <span key={name} role="columnheader">
              {name}
            </span>
          ))}
        </div>
      </div>
      <div
        role="rowgroup"
        className="body"
        ref={body}
        style={{ height: rows.length * ROW_HEIGHT }}
        onKeyDown={onKeyDown}
      >
        {indexes.map((index) => {
          const row = rows[index];
          if (row === undefined) return null;
          const key = keyOf(row);
          const isSelected = selection?.keys.has(key);
          return (
            <div
              key={key}
              role="row"
              aria-rowindex={index + 2}
              className={isSelected ? 'selected' : undefined}
              style={{ gridTemplateColumns: template, top: index * ROW_HEIGHT }}
            >
              {selection && (
                <span role="cell">
                  <input
                    type="checkbox"
                    aria-label={selection.labelOf(row)}
                    checked={isSelected}
                    disabled={!isSelected && !selection.allows(row)}
                    onChange={() => selection.select(toggled(selection.keys, key))}
                  />
                </span>
              )}
              {columns.map(({ name, cell }, at) => (
                <span key={name} role="cell">
                  {at > 0 ? (
                    cell(row)
                  ) : (
                    <Link
                      href={hrefOf(row)}
                      data-index={index}
                      tabIndex={index === active ? 0 : -1}
                      onFocus={() => setActive(index)}
                    >
                      {cell(row)}
                    </Link>
                  )}
                </span>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Selects all rows that were loaded, or none. */
function SelectAll<Row>({
  rows,
  keyOf,
  selection: { keys, select, allows },
}: {
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  selection: Selection<Row>;
}) {
  const all = rows.filter(allows).map(keyOf);
  const hasAll = all.length > 0 && all.every((key) => keys.has(key));
  return (
    <input
      type="checkbox"
      aria-label="Select all shown"
      checked={hasAll}
      disabled={all.length === 0 && keys.size === 0}
      ref={(input) => {
        if (input) input.indeterminate = !hasAll && keys.size > 0;
      }}
      onChange={() => select(hasAll ? [] : all)}
    />
  );
}

const toggled = (keys: ReadonlySet<string>, key: string): string[] =>
  keys.has(key) ? [...keys].filter((each) => each !== key) : [...keys, key];

/** Moves the focus to a row that may not be rendered yet. */
function moveTo(body: RefObject<HTMLDivElement | null>, index: number): void {
  requestAnimationFrame(() => {
    const link = body.current?.querySelector<HTMLElement>(`[data-index="${index}"]`);
    link?.focus({ preventScroll: true });
    link?.closest('[role=row]')?.scrollIntoView({ block: 'nearest' });
  });
}

/** The rows that are on the screen, and some around them. */
function useRange(body: RefObject<HTMLDivElement | null>, count: number): [number, number] {
  const [range, setRange] = useState<[number, number]>([0, 40]);
  useLayoutEffect(() => {
    function measure(): void {
      if (!body.current) return;
      const top = -body.current.getBoundingClientRect().top;
      // In steps, so that a row more or less changes nothing.
      const first = Math.floor(top / ROW_HEIGHT / MARGIN_ROWS) * MARGIN_ROWS - MARGIN_ROWS;
      const shown = Math.ceil(window.innerHeight / ROW_HEIGHT) + 3 * MARGIN_ROWS;
      const from = Math.max(first, 0);
      const to = Math.max(first + shown, 0);
      setRange((before) => (before[0] === from && before[1] === to ? before : [from, to]));
    }
    measure();
    window.addEventListener('scroll', measure, { passive: true });
    window.addEventListener('resize', measure);
    return () => {
      window.removeEventListener('scroll', measure);
      window.removeEventListener('resize', measure);
    };
  }, [body, count]);
  return [Math.min(range[0], count), Math.min(range[1], count)];
}
