import { type FocusEvent, Fragment, type SubmitEvent, useRef } from 'react';
import { useSearchParams } from 'wouter';
import { Field } from './field.js';
import { localInputOf, timeOfInput } from './filter-values.js';

/** A filter of a list. Its value is in the address, under its name. */
export interface Filter {
  name: string;
  label: string;
  /** `time` is shown in the viewer's zone, and is UTC in the address. */
  kind: 'choice' | 'text' | 'time';
  /** What may be chosen; of a text, what is suggested. */
  choices?: readonly string[];
  /** What choices are called, where their values say too little. */
  names?: Readonly<Record<string, string>>;
  hint?: string;
}

/** The filters in the address, also those that no list has: the API says so. */
export function useFilters(): Record<string, string> {
  const [search] = useSearchParams();
  return Object.fromEntries([...search].filter(([, value]) => value !== ''));
}

/** The inputs of filters. A change is a step in the history, so that the back button takes it back. */
export function FilterBar({
  filters,
  errors = {},
}: {
  filters: readonly Filter[];
  /** What the API found wrong, by name. */
  errors?: Record<string, string>;
}) {
  const [search, setSearch] = useSearchParams();
  const form = useRef<HTMLFormElement>(null);

  function apply(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const next = new URLSearchParams(search);
    for (const { name, kind } of filters) {
      const text = (given.get(name) as string).trim();
      const value = kind === 'time' ? timeOfInput(text) : text;
      if (value === '') next.delete(name);
      else next.set(name, value);
    }
    if (next.toString() !== search.toString()) setSearch(next);
  }

  function clear(): void {
    const next = new URLSearchParams(search);
    for (const { name } of filters) next.delete(name);
    setSearch(next);
  }

  const set = filters.filter(({ name }) => search.get(name));
  const submit = () => form.current?.requestSubmit();
  return (
    <search>
      {/* Open where there is room, or if one is set. */}
      <details className="filters" open={set.length > 0 || window.innerWidth > 700}>
        <summary>{set.length === 0 ? 'Filters' : `Filters (${set.length} set)`}</summary>
        <form ref={form} onSubmit={apply} noValidate>
          {filters.map((filter) => (
            <Fragment key={`${filter.name}=${search.get(filter.name) ?? ''}`}>
              <Field label={filter.label} hint={filter.hint} error={errors[filter.name]}>
                {inputOf(filter, search.get(filter.name) ?? '', submit)}
              </Field>
              {filter.kind === 'text' && filter.choices && (
                <datalist id={listOf(filter)}>
                  {filter.choices.map((choice) => (
                    <option key={choice} value={choice} />
                  ))}
                </datalist>
              )}
            </Fragment>
          ))}
          <div className="buttons">
            <button type="submit">Apply</button>
            <button type="button" onClick={clear} disabled={set.length === 0}>
              Clear
            </button>
          </div>
        </form>
      </details>
    </search>
  );
}

const listOf = ({ name }: Filter): string => `suggested-${name}`;

function inputOf(filter: Filter, value: string, submit: () => void) {
  const { name, kind, choices = [], names = {} } = filter;
  if (kind === 'choice') {
    const all = value === '' || choices.includes(value) ? choices : [...choices, value];
    return (
      <select name={name} defaultValue={value} onChange={submit}>
        <option value="">All</option>
        {all.map((choice) => (
          <option key={choice} value={choice}>
            {names[choice] ?? choice}
          </option>
        ))}
      </select>
    );
  }
  const shown = kind === 'time' ? localInputOf(value) : value;
  const onBlur = ({ target }: FocusEvent<HTMLInputElement>) => target.value !== shown && submit();
  if (kind === 'time') {
    return (
      <input name={name} type="datetime-local" step="1" defaultValue={shown} onBlur={onBlur} />
    );
  }
  return (
    <input
      name={name}
      defaultValue={shown}
      list={choices.length > 0 ? listOf(filter) : undefined}
      onBlur={onBlur}
      autoComplete="off"
      spellCheck={false}
    />
  );
}
