import { Search } from 'lucide-react';
import { type SubmitEvent, useState } from 'react';
import { type Filter, useSetFilters } from './filters.js';

/** A search field. While its text is not searched for yet, a button says how to start. */
export function SearchField({
  label,
  value = '',
  fault,
  onSearch,
}: {
  label: string;
  value?: string;
  /** The id of the element that says what is wrong with the value. */
  fault?: string | undefined;
  onSearch: (text: string) => void;
}) {
  const [isNew, setIsNew] = useState(false);
  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    setIsNew(false);
    onSearch((new FormData(event.currentTarget).get('text') as string).trim());
  }
  return (
    <form className="search-field" onSubmit={submit}>
      <Search size={15} aria-hidden />
      <input
        name="text"
        type="search"
        aria-label={label}
        aria-invalid={fault !== undefined || undefined}
        aria-describedby={fault}
        placeholder={label}
        defaultValue={value}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => setIsNew(target.value.trim() !== value)}
      />
      {isNew && (
        <button type="submit" className="plain" aria-label="Search with Enter">
          <kbd>Enter</kbd>
        </button>
      )}
    </form>
  );
}

/** A filter by text. */
export function Text({
  filter: { name, label },
  ...field
}: {
  filter: Filter;
  value: string;
  fault: string | undefined;
}) {
  const setFilters = useSetFilters();
  return <SearchField label={label} {...field} onSearch={(text) => setFilters({ [name]: text })} />;
}

/** A {@link Text} that filters on each key press, in one history entry. */
export function InstantText({ filter: { name, label }, value }: { filter: Filter; value: string }) {
  const setFilters = useSetFilters();
  return (
    <div className="search-field">
      <Search size={15} aria-hidden />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => setFilters({ [name]: target.value }, { replace: value !== '' })}
      />
    </div>
  );
}
