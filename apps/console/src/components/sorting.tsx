import { ArrowDown, ArrowUp } from 'lucide-react';
import { useSearchParams } from 'wouter';

/** The name that rows are sorted by; with a leading minus, descending. */
export interface Sorting {
  order: string;
  sort: (order: string) => void;
}

/**
 * The sorting in the address, as `sort`. @param usual the default order
 */
export function useSorting(usual: string): Sorting {
  const [search, setSearch] = useSearchParams();
  return {
    order: search.get('sort') ?? usual,
    sort: (order) => {
      const next = new URLSearchParams(search);
      if (order === usual) next.delete('sort');
      else next.set('sort', order);
      setSearch(next, { replace: true });
    },
  };
}

/** A column header; a button if the column sorts the table. */
export function Head({
  name,
  isNumber,
  sortsBy,
  sorting,
}: {
  name: string;
  isNumber: true | undefined;
  sortsBy: string | undefined;
  sorting: Sorting | undefined;
}) {
  const className = isNumber && 'number';
  if (!sorting || sortsBy === undefined) {
    return (
      <span role="columnheader" className={className}>
        {name}
      </span>
    );
  }
  const { order, sort } = sorting;
  const isSorted = keyOfOrder(order) === keyOfOrder(sortsBy);
  const isDescending = order.startsWith('-');
  const Arrow = isDescending ? ArrowDown : ArrowUp;
  return (
    <span
      role="columnheader"
      className={className}
      aria-sort={isSorted ? (isDescending ? 'descending' : 'ascending') : 'none'}
    >
      <button
        type="button"
        className="plain sort"
        onClick={() => sort(isSorted ? opposite(order) : sortsBy)}
      >
        {name}
        {isSorted && <Arrow size={12} aria-hidden />}
      </button>
    </span>
  );
}

const keyOfOrder = (order: string): string => order.replace(/^-/, '');

const opposite = (order: string): string => (order.startsWith('-') ? order.slice(1) : `-${order}`);
