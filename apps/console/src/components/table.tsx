import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { Link, useLocation } from 'wouter';
import { useOpenRowInView } from './open-row.js';
import { Head, type Sorting } from './sorting.js';

/** A column of a table. The first one is the link to the row's page. */
export interface Column<Row> {
  name: string;
  /** Of the grid, as `2fr` or `8rem`. */
  width: string;
  /** Whether its cells end at the right. */
  isNumber?: true;
  /** The order that the first click on its head chooses, as {@link Sorting} has it. */
  sortsBy?: string;
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

/** In CSS pixels: rows outside of the window are not rendered. */
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
  sorting,
  rowHeight = ROW_HEIGHT,
  openRow,
  onOpen,
  onEnd,
}: {
  label: string;
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  hrefOf: (row: Row) => string;
  columns: readonly Column<Row>[];
  selection?: Selection<Row> | undefined;
  sorting?: Sorting | undefined;
  /** In CSS pixels. */
  rowHeight?: number | undefined;
  /** The key of the row that is open beside the list. */
  openRow?: string | undefined;
  /** Opens a row beside the list, instead of its page. */
  onOpen?: ((row: Row) => void) | undefined;
  onEnd?: () => void;
}) {
  const body = useRef<HTMLDivElement>(null);
  const [start, end] = useRange(body, rows.length, rowHeight);
  useOpenRowInView(body, rows, keyOf, openRow, rowHeight);
  const [active, setActive] = useState(0);
  const [, navigate] = useLocation();
  const isNearEnd = end >= rows.length - 2 * MARGIN_ROWS;
  useEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, onEnd, rows.length]);

  function onKeyDown(event: KeyboardEvent): void {
    const last = rows.length - 1;
    const [next, before] = [active + 1, active - 1];
    const keys = { ArrowDown: next, j: next, ArrowUp: before, k: before, Home: 0, End: last };
    const to = (keys as Record<string, number>)[event.key];
    if (to === undefined || to < 0 || to > last) return;
    event.preventDefault();
    setActive(to);
    moveTo(body, to);
    const row = rows[to];
    if (openRow !== undefined && row !== undefined) onOpen?.(row);
  }

  /** A click anywhere on a row opens it, unless something in it has a click of its own. */
  function onClick(event: MouseEvent, row: Row): void {
    const { target, ctrlKey, metaKey, shiftKey } = event;
    if (ctrlKey || metaKey || shiftKey || !(target instanceof Element)) return;
    if (target.closest('input, button')) return;
    if (onOpen) {
      event.preventDefault();
      onOpen(row);
    } else if (!target.closest('a')) navigate(hrefOf(row));
  }

  const template = [selection ? '16px' : '', ...columns.map(({ width }) => width)].join(' ');
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
          {columns.map(({ name, isNumber, sortsBy }) => (
            <Head key={name} {...{ name, isNumber, sortsBy, sorting }} />
          ))}
        </div>
      </div>
      <div
        role="rowgroup"
        className="body"
        ref={body}
        style={{ height: rows.length * rowHeight }}
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
              className={key === openRow ? 'open' : isSelected ? 'selected' : undefined}
              style={{
                gridTemplateColumns: template,
                height: rowHeight,
                top: index * rowHeight,
              }}
              onClick={(event) => onClick(event, row)}
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
              {columns.map(({ name, cell, isNumber }, at) => (
                // The link keeps the focus when other columns come first.
                <span
                  key={at > 0 ? name : ''}
                  role="cell"
                  className={isNumber ? 'number' : undefined}
                >
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
function useRange(
  body: RefObject<HTMLDivElement | null>,
  count: number,
  rowHeight: number,
): [number, number] {
  const [range, setRange] = useState<[number, number]>([0, 40]);
  useLayoutEffect(() => {
    function measure(): void {
      if (!body.current) return;
      const top = -body.current.getBoundingClientRect().top;
      // In steps, so that a row more or less changes nothing.
      const first = Math.floor(top / rowHeight / MARGIN_ROWS) * MARGIN_ROWS - MARGIN_ROWS;
      const shown = Math.ceil(window.innerHeight / rowHeight) + 3 * MARGIN_ROWS;
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
  }, [body, count, rowHeight]);
  return [Math.min(range[0], count), Math.min(range[1], count)];
}
