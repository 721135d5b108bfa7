import '../styles/filter-bar.css';
import { ChevronDown, Search, X } from 'lucide-react';
import { type ReactNode, type SubmitEvent, useId, useRef } from 'react';
import { useSearchParams } from 'wouter';
import { Field } from './field.js';
import { localInputOf, timeOfInput } from './filter-values.js';
import { localText } from './time.js';

/** A filter of a list. Its value is in the address, under its name. */
export interface Filter {
  name: string;
  label: string;
  /** `text` is what is searched for, `time` is shown in the viewer's zone and is UTC in the address. */
  kind: 'choice' | 'text' | 'time';
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

/** Sets filters in the address, and takes away those without a value. A step in the history each time. */
function useSetFilters(): (values: Readonly<Record<string, string>>) => void {
  const [search, setSearch] = useSearchParams();
  return (values) => {
    const next = new URLSearchParams(search);
    for (const [name, value] of Object.entries(values)) {
      if (value === '') next.delete(name);
      else next.set(name, value);
    }
    if (next.toString() !== search.toString()) setSearch(next);
  };
}

/** Filters in one line: what is searched for, and a chip for each of the others. */
export function FilterBar({
  filters,
  errors = {},
  search,
  children,
}: {
  filters: readonly Filter[];
  /** What the API found wrong, by name. */
  errors?: Record<string, string>;
  /** A field that searches otherwise than by a filter of the kind `text`. */
  search?: ReactNode;
  /** What can be done with the list. */
  children?: ReactNode;
}) {
  const values = useFilters();
  const setFilters = useSetFilters();
  const isSet = filters.some(({ name }) => values[name] !== undefined);
  const times = filters.filter(({ kind }) => kind === 'time');
  const wrong = filters.filter(({ name }) => errors[name] !== undefined);
  return (
    <>
      <div className="filter-bar">
        <search>
          {search}
          {filters.map((filter) => {
            const value = values[filter.name] ?? '';
            const key = `${filter.name}=${value}`;
            if (filter.kind === 'text') return <Text key={key} filter={filter} value={value} />;
            if (filter.kind === 'choice') return <Choice key={key} filter={filter} value={value} />;
            return null;
          })}
          {times.length > 0 && <Times filters={times} values={values} />}
          {isSet && (
            <button
              type="button"
              className="plain"
              onClick={() => setFilters(Object.fromEntries(filters.map(({ name }) => [name, ''])))}
            >
              Clear
            </button>
          )}
        </search>
        <div className="at-end">{children}</div>
      </div>
      {wrong.map(({ name, label }) => (
        <p key={name} className="problem" role="alert">
          {label}: {errors[name]}
        </p>
      ))}
    </>
  );
}

/** A field in which one types what to find. */
export function SearchField({
  label,
  value = '',
  suggestions = [],
  onSearch,
}: {
  label: string;
  value?: string;
  suggestions?: readonly string[];
  onSearch: (text: string) => void;
}) {
  const list = useId();
  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    onSearch((new FormData(event.currentTarget).get('text') as string).trim());
  }
  return (
    <form className="search-field" onSubmit={submit}>
      <Search size={15} aria-hidden />
      <input
        name="text"
        type="search"
        aria-label={label}
        placeholder={label}
        defaultValue={value}
        list={suggestions.length > 0 ? list : undefined}
        autoComplete="off"
        spellCheck={false}
      />
      {suggestions.length > 0 && (
        <datalist id={list}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </form>
  );
}

function Text({ filter: { name, label }, value }: { filter: Filter; value: string }) {
  const setFilters = useSetFilters();
  return (
    <SearchField label={label} value={value} onSearch={(text) => setFilters({ [name]: text })} />
  );
}

/** A chip over which lies the browser's own list of choices. */
function Choice({ filter, value }: { filter: Filter; value: string }) {
  const { name, label, choices = [], names = {} } = filter;
  const setFilters = useSetFilters();
  if (filter.choices === undefined && value === '') return null;
  const all = value === '' || choices.includes(value) ? choices : [...choices, value];
  return (
    <span className={value === '' ? 'chip' : 'chip set'}>
      <span className="label" aria-hidden>
        {label} {value !== '' && <bdi className="value">{names[value] ?? value}</bdi>}
        {value === '' && <ChevronDown size={13} />}
      </span>
      <select
        aria-label={label}
        value={value}
        onChange={({ target }) => setFilters({ [name]: target.value })}
      >
        <option value="">All</option>
        {all.map((choice) => (
          <option key={choice} value={choice}>
            {names[choice] ?? choice}
          </option>
        ))}
      </select>
      {value !== '' && (
        <button
          type="button"
          aria-label={`Remove the filter ${label}`}
          onClick={() => setFilters({ [name]: '' })}
        >
          <X size={13} aria-hidden />
        </button>
      )}
    </span>
  );
}

const HOUR_MS = 3_600_000;
const AGO = { 'Last hour': HOUR_MS, 'Last 24 hours': 24 * HOUR_MS, 'Last 7 days': 168 * HOUR_MS };

/** A chip that opens what limits the time. */
function Times({
  filters,
  values,
}: {
  filters: readonly Filter[];
  values: Readonly<Record<string, string>>;
}) {
  const id = useId();
  const chip = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const setFilters = useSetFilters();
  const set = filters.filter(({ name }) => values[name] !== undefined);

  function place(): void {
    if (!chip.current || !panel.current?.matches(':popover-open')) return;
    const { left, bottom } = chip.current.getBoundingClientRect();
    const most = document.documentElement.clientWidth - panel.current.offsetWidth - 8;
    panel.current.style.top = `${bottom + 6}px`;
    panel.current.style.left = `${Math.max(Math.min(left, most), 8)}px`;
  }

  function apply(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const times = filters.map(({ name }) => [name, timeOfInput(given.get(name) as string)]);
    panel.current?.hidePopover();
    setFilters(Object.fromEntries(times) as Record<string, string>);
  }

  function since(ms: number): void {
    panel.current?.hidePopover();
    setFilters({ since: new Date(Date.now() - ms).toISOString(), until: '' });
  }

  const shown = (value: string) => (Number.isNaN(Date.parse(value)) ? value : localText(value));
  const text = set.map(({ name, label }) => `${label.toLowerCase()} ${shown(values[name]!)}`);
  return (
    <span className={set.length === 0 ? 'chip' : 'chip set'}>
      <button ref={chip} type="button" className="label" popoverTarget={id}>
        {set.length === 0 ? 'Any time' : <span className="value">{text.join(' ')}</span>}
        {set.length === 0 && <ChevronDown size={13} aria-hidden />}
      </button>
      {set.length > 0 && (
        <button
          type="button"
          aria-label="Remove the time"
          onClick={() => setFilters(Object.fromEntries(filters.map(({ name }) => [name, ''])))}
        >
          <X size={13} aria-hidden />
        </button>
      )}
      <div ref={panel} id={id} className="times" popover="auto" onToggle={place}>
        <div className="ago">
          {Object.entries(AGO).map(([name, ms]) => (
            <button key={name} type="button" className="small" onClick={() => since(ms)}>
              {name}
            </button>
          ))}
        </div>
        <form onSubmit={apply} noValidate>
          {filters.map(({ name, label }) => (
            <Field key={`${name}=${values[name] ?? ''}`} label={label}>
              <input
                name={name}
                type="datetime-local"
                step="1"
                defaultValue={localInputOf(values[name] ?? '')}
              />
            </Field>
          ))}
          <button type="submit">Apply</button>
        </form>
      </div>
    </span>
  );
}
