import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useRef,
  useState,
} from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { useOpenRowInView } from './open-row.js';
import { usePageKeys } from './page-keys.js';
import { MARGIN_ROWS, useRange } from './rendered-rows.js';
import { Head, type Sorting } from './sorting.js';
import { Listing, useStandingRows } from './standing.js';

/** A column of a table. The first one links to the row's page. */
export interface Column<Row> {
  name: string;
  /** Its width in the grid, such as `2fr` or `8rem`. */
  width: string;
  /** Whether its cells are right-aligned. */
  isNumber?: true;
  /** The order that the first click on its header sets, see {@link Sorting}. */
  sortsBy?: string;
  cell: (row: Row) => ReactNode;
}

/** The selected rows, by key. */
export interface Selection<Row> extends Selectable<Row> {
  keys: ReadonlySet<string>;
  select: (keys: Iterable<string>) => void;
}

interface Selectable<Row> {
  /** Whether the row can be selected. */
  allows: (row: Row) => boolean;
  labelOf: (row: Row) => string;
}

/** A selection that is emptied when the filters change. */
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

/** In CSS pixels. */
const ROW_HEIGHT = 60;

/**
 * A list of any length that renders only the rows on screen. Arrow keys, Home and End move between rows. Rows stand
 * still while somebody points at them: see {@link useStandingRows}.
 * @param onEnd is called near the end, to load more
 */
export function Table<Row>({
  label,
  rows: all,
  keyOf,
  hrefOf,
  columns,
  selection,
  sorting,
  rowHeight = ROW_HEIGHT,
  openRow,
  onOpen,
  onEnd,
  isOutdated = false,
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
  /** Opens a row beside the list instead of on its page. */
  onOpen?: ((row: Row) => void) | undefined;
  onEnd?: () => void;
  /** Whether the rows are those of other filters or of another order, until the new ones are loaded. */
  isOutdated?: boolean;
}) {
  const body = useRef<HTMLDivElement>(null);
  const list = useListInAddress(openRow);
  const standing = useStandingRows(all, keyOf, isOutdated ? '' : list);
  const { rows } = standing;
  const [start, end] = useRange(body, rows.length, rowHeight);
  useOpenRowInView(body, rows, keyOf, openRow, rowHeight);
  const [active, setActive] = useState(0);
  const [, navigate] = useLocation();
  const isNearEnd = end >= rows.length - 2 * MARGIN_ROWS;
  useEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, onEnd, all.length]);

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

  usePageKeys((key, target) => {
    // Beside an open row, these keys open its neighbours.
    if (openRow !== undefined || document.querySelector('main .table .body') !== body.current)
      return false;
    const opens = key === 'Enter' && target.matches('body, main, h1');
    if (!opens && key !== 'j' && key !== 'k') return false;
    moveTo(body, active, opens);
    return true;
  });

  /** A click anywhere on a row opens it, unless it hits a control. */
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
  // Keep the focused row rendered wherever the page scrolls.
  if (active < rows.length && (active < start || active >= end)) indexes.push(active);
  return (
    <Listing of={standing}>
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
                onFocus={() => setActive(index)}
              >
                {selection && (
                  <span role="cell">
                    <input
                      type="checkbox"
                      tabIndex={index === active ? 0 : -1}
                      aria-label={selection.labelOf(row)}
                      checked={isSelected}
                      disabled={!isSelected && !selection.allows(row)}
                      onChange={() => selection.select(toggled(selection.keys, key))}
                    />
                  </span>
                )}
                {columns.map(({ name, cell, isNumber }, at) => (
                  // The link keeps the focus when columns change.
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
    </Listing>
  );
}

/** The filters and the order in the address, which tell one list from another; not which row is open. */
function useListInAddress(openRow: string | undefined): string {
  const [search] = useSearchParams();
  return `?${[...search].filter(([, value]) => value !== openRow).join('&')}`;
}

/** Selects all loaded rows, or none. */
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
function moveTo(body: RefObject<HTMLDivElement | null>, index: number, opens = false): void {
  requestAnimationFrame(() => {
    const link = body.current?.querySelector<HTMLElement>(`[data-index="${index}"]`);
    link?.focus({ preventScroll: true });
    link?.closest('[role=row]')?.scrollIntoView({ block: 'nearest' });
    if (opens) link?.click();
  });
}
