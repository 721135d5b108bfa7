import { Search } from 'lucide-react';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { type Filter, useSetFilters } from './filters.js';
import { type Opened, type Suggestion, suggestionsFor } from './suggestions.js';

/** A search over all filters of a list: it offers what a text may mean, and Enter takes what is highlighted. */
export function SuggestingField({
  label,
  filters,
  opensOf,
}: {
  label: string;
  filters: readonly Filter[];
  /** The pages for a text that is an id. */
  opensOf?: ((id: string) => readonly Opened[]) | undefined;
}) {
  const [text, setText] = useState('');
  const [isOpen, setIsOpen] = useState(false);
  const [active, setActive] = useState(0);
  const [, navigate] = useLocation();
  const setFilters = useSetFilters();
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  const offered = isOpen ? suggestionsFor(text, filters, opensOf) : [];

  function choose(suggestion: Suggestion | undefined): void {
    if (!suggestion) return;
    setText('');
    setIsOpen(false);
    const { target } = suggestion;
    if ('path' in target) navigate(target.path);
    else setFilters({ [target.filter]: target.value });
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && offered.length > 0) {
      event.preventDefault();
      const next = (active + step + offered.length) % offered.length;
      setActive(next);
      document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter') {
      event.preventDefault();
      choose(offered[active]);
    } else if (event.key === 'Escape') {
      event.preventDefault();
      if (offered.length > 0) setIsOpen(false);
      else field.current?.blur();
    }
  }

  return (
    <div className="search-field">
      <Search size={15} aria-hidden />
      <input
        ref={field}
        type="text"
        role="combobox"
        aria-label={label}
        aria-expanded={offered.length > 0}
        aria-controls={offered.length > 0 ? id : undefined}
        aria-activedescendant={offered[active] && `${id}-${active}`}
        aria-keyshortcuts="/"
        placeholder={label}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onKeyDown={onKeyDown}
        onBlur={() => setIsOpen(false)}
        onFocus={() => setIsOpen(true)}
        onChange={({ target }) => {
          setText(target.value);
          setIsOpen(true);
          setActive(0);
        }}
      />
      {offered.length > 0 && (
        <div
          id={id}
          role="listbox"
          aria-label="Suggestions"
          className="suggestions"
          // Keep the focus in the field.
          onMouseDown={(event) => event.preventDefault()}
        >
          {offered.map((suggestion, index) => (
            <div
              key={`${suggestion.kind} ${JSON.stringify(suggestion.target)}`}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === active}
              onPointerMove={() => setActive(index)}
              onClick={() => choose(suggestion)}
            >
              <span className="quiet">{suggestion.kind}</span> <bdi>{suggestion.name}</bdi>{' '}
              {suggestion.detail !== undefined && (
                <bdi className="quiet detail">{suggestion.detail}</bdi>
              )}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
