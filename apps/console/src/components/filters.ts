import { useSearchParams } from 'wouter';

/** A filter of a list. Its value is in the address, under its name. */
export interface Filter {
  name: string;
  label: string;
  /** `text` is what is searched for, `time` is shown in the viewer's zone and is UTC in the address. */
  kind: 'choice' | 'text' | 'time';
  /** Whether a text filters while it is typed, because no request follows. */
  isInstant?: true;
  /** What may be chosen. Without it, a choice is shown only while the address has a value for it. */
  choices?: readonly string[];
  /** What choices are called, where their values say too little. */
  names?: Readonly<Record<string, string>>;
}

/** The filters in the address, also those that no list has: the API says so. */
export function useFilters(): Record<string, string> {
  const [search] = useSearchParams();
  return Object.fromEntries([...search].filter(([, value]) => value !== ''));
}

type SetFilters = (
  values: Readonly<Record<string, string>>,
  options?: { replace: boolean },
) => void;

/** Sets filters in the address, and takes away those without a value. A step in the history, unless it replaces one. */
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
