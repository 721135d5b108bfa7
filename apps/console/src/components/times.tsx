import { ChevronDown, X } from 'lucide-react';
import { type SubmitEvent, useId, useRef } from 'react';
import { Field } from './field.js';
import { localInputOf, timeOfInput } from './filter-values.js';
import { type Filter, useSetFilters } from './filters.js';
import { localText } from './time.js';

const HOUR_MS = 3_600_000;
const AGO = { 'Last hour': HOUR_MS, 'Last 24 hours': 24 * HOUR_MS, 'Last 7 days': 168 * HOUR_MS };

/** A chip that opens the time filters. */
export function Times({
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
    <span className={set.length === 0 ? 'chip time' : 'chip time set'}>
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
