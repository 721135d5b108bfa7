import '../styles/filter-bar.css';
import { ChevronDown, Plus, X } from 'lucide-react';
import { type ReactNode, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { faultText } from './filter-values.js';
import { type Filter, useFilters, useSetFilters } from './filters.js';
import { InstantText, Text } from './search-field.js';
import { SuggestingField } from './suggesting-field.js';
import type { Opened } from './suggestions.js';
import { Times } from './times.js';

export { type Filter, useFilters } from './filters.js';

export interface FilterBarProps {
  filters: readonly Filter[];
  /** The API's faults, by filter name. */
  errors?: Record<string, string>;
  /** One search field for all filters. It replaces the field of a `text` filter. */
  search?: { label: string; opensOf: (id: string) => readonly Opened[] } | undefined;
  /** Buttons for the list. */
  children?: ReactNode;
}

/**
 * Filters in one line: the search field, a chip for each other filter, and the time at the end. Unset chips that do not
 * fit move into a list behind the last chip; on phones, the line scrolls instead.
 */
export function FilterBar({ filters, errors = {}, search, children }: FilterBarProps) {
  const values = useFilters();
  const setFilters = useSetFilters();
  const [added, setAdded] = useState<readonly string[]>([]);
  const chips = useRef<HTMLDivElement>(null);
  const isSet = filters.some(({ name }) => values[name] !== undefined);
  const ofKind = (wanted: Filter['kind']) =>
    filters.filter(
      ({ kind, name, choices }) =>
        kind === wanted && (kind !== 'choice' || choices || values[name] !== undefined),
    );
  const times = ofKind('time');
  const optional = ofKind('choice').filter(
    ({ name }) => values[name] === undefined && !added.includes(name),
  );
  const folded = optional.slice(optional.length - useFolded(chips, optional.length, values));
  const wrong = filters.filter(({ name }) => errors[name] !== undefined);
  return (
    <>
      <div className="filter-bar">
        <search>
          {search && <SuggestingField {...search} filters={filters} />}
          {ofKind('text').map((filter) => {
            const value = values[filter.name] ?? '';
            if (filter.isInstant)
              return <InstantText key={filter.name} filter={filter} value={value} />;
            const fault = errors[filter.name] && faultId(filter.name);
            return <Text key={`${filter.name}=${value}`} {...{ filter, value, fault }} />;
          })}
          <div className="chips" ref={chips}>
            {ofKind('choice')
              .filter((filter) => !folded.includes(filter))
              .map((filter) => (
                <Choice
                  key={filter.name}
                  filter={filter}
                  value={values[filter.name] ?? ''}
                  fault={errors[filter.name] && faultId(filter.name)}
                />
              ))}
            {folded.length > 0 && (
              <More filters={folded} onAdd={(name) => setAdded([...added, name])} />
            )}
            {isSet && (
              <button
                type="button"
                className="plain"
                onClick={() => {
                  setAdded([]);
                  setFilters(Object.fromEntries(filters.map(({ name }) => [name, ''])));
                }}
              >
                Clear
              </button>
            )}
            {times.length > 0 && <Times filters={times} values={values} />}
          </div>
        </search>
        {children && <div className="at-end">{children}</div>}
      </div>
      {wrong.map((filter) => (
        <p key={filter.name} id={faultId(filter.name)} className="problem" role="alert">
          {faultText(filter, values[filter.name] ?? '', errors[filter.name]!)}
        </p>
      ))}
    </>
  );
}

const faultId = (name: string): string => `fault-of-${name}`;

/** The height of one line of chips, in CSS pixels. */
const ONE_LINE = 48;

/** How many unset chips do not fit into the line. It counts them before the browser paints. */
function useFolded(
  chips: RefObject<HTMLElement | null>,
  most: number,
  values: Readonly<Record<string, string>>,
): number {
  const [width, setWidth] = useState(window.innerWidth);
  const of = `${width} ${JSON.stringify(values)}`;
  const [folded, setFolded] = useState({ of, count: 0 });
  const count = Math.min(folded.of === of ? folded.count : 0, most);
  useLayoutEffect(() => {
    const isTooLong = (chips.current?.offsetHeight ?? 0) > ONE_LINE;
    if (isTooLong && count < most) setFolded({ of, count: count + 1 });
  });
  useLayoutEffect(() => {
    const measure = () => setWidth(window.innerWidth);
    window.addEventListener('resize', measure);
    return () => window.removeEventListener('resize', measure);
  }, []);
  return count;
}

/** A chip that adds one of the folded filters. */
function More({ filters, onAdd }: { filters: readonly Filter[]; onAdd: (name: string) => void }) {
  return (
    <span className="chip">
      <span className="label" aria-hidden>
        <Plus size={13} /> Filter
      </span>
      <select
        aria-label="More filters"
        value=""
        onChange={({ target }) => {
          const name = target.value;
          onAdd(name);
          requestAnimationFrame(() => {
            document.querySelector<HTMLElement>(`.chips select[name="${name}"]`)?.focus();
          });
        }}
      >
        <option value="" disabled hidden />
        {filters.map(({ name, label }) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    </span>
  );
}

/** A chip that covers the browser's own select. */
function Choice({
  filter,
  value,
  fault,
}: {
  filter: Filter;
  value: string;
  /** The id of the element that says what is wrong with the value. */
  fault: string | undefined;
}) {
  const { name, label, choices = [], names = {} } = filter;
  const setFilters = useSetFilters();
  const all = value === '' || choices.includes(value) ? choices : [...choices, value];
  return (
    <span className={value === '' ? 'chip' : 'chip set'}>
      <span className="label" aria-hidden>
        {label} {value !== '' && <bdi className="value">{names[value] ?? value}</bdi>}
        {value === '' && <ChevronDown size={13} />}
      </span>
      <select
        name={name}
        aria-label={label}
        aria-invalid={fault !== undefined || undefined}
        aria-describedby={fault}
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
