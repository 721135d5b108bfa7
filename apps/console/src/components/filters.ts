import { useSearchParams } from 'wouter';

/** A filter of a list. The address holds its value, under its name. */
export interface Filter {
  name: string;
  label: string;
  /** `text` searches; `time` is shown in the viewer's zone and is UTC in the address. */
  kind: 'choice' | 'text' | 'time';
  /** Whether it filters on each key press, because it sends no request. */
  isInstant?: true;
  /** The values to choose from. Without them, the filter is shown only while the address sets it. */
  choices?: readonly string[];
  /** Labels for values that are not clear by themselves. */
  names?: Readonly<Record<string, string>>;
  /** What tells values with the same label apart; the search field finds and shows it. */
  details?: Readonly<Record<string, string>>;
  /** Texts that the search field offers as values besides the choices. */
  accepts?: RegExp;
  /** What the user has to know about such a value. */
  hint?: string;
}

/** All parameters of the address, even unknown ones: the API reports those. */
export function useFilters(): Record<string, string> {
  const [search] = useSearchParams();
  return Object.fromEntries([...search].filter(([, value]) => value !== ''));
}

type SetFilters = (
  values: Readonly<Record<string, string>>,
  options?: { replace: boolean },
) => void;

/** Sets filters in the address, and removes those without a value. Adds a history entry, unless it replaces one. */
export function useSetFilters(): SetFilters {
  const [search, setSearch] = useSearchParams();
  return (values, options) => {
    const next = new URLSearchParams(search);
    for (const [name, value] of Object.entries(values)) {
      if (value === '') next.delete(name);
      else next.set(name, value);
    }
    if (next.toString() !== search.toString()) setSearch(next, options);
  };
}
