import './filter-field.css';
import { Plus, X } from 'lucide-react';
import { type ReactNode, useId, useRef, useState } from 'react';
import { faultAt, type Faults } from '../../app/faults.js';
import {
  countOf,
  faultOfRows,
  type FilterRow,
  hasValue,
  jsonOfRow,
  type Kind,
  KINDS,
  MOST_MEMBERS,
  rowsOf,
  valueOf,
  wrongInput,
} from './filter-rows.js';
import { useMembers } from './members.queries.js';

/** The conditions of a filter, one row each. */
export function FilterField({
  event,
  value,
  faults,
  onChange,
  children,
}: {
  /** Whose members are suggested; absent if nothing can be changed. */
  event: string | undefined;
  /** See {@link rowsOf}. */
  value: string;
  faults: Faults;
  onChange: (value: string) => void;
  /** What the filter does, below the rows. */
  children?: ReactNode;
}) {
  const id = useId();
  const [added, setAdded] = useState<number>();
  const addButton = useRef<HTMLButtonElement>(null);
  const rows = rowsOf(value);
  const members = useMembers(rows.length > 0 ? event : undefined);
  const fault = faultAt(faults, 'filter');
  const found = faultOfRows(rows);
  // Only if it was reported, and is still there.
  const own = found?.message === faults['filter'] ? found : undefined;

  function change(at: number, row: FilterRow): void {
    onChange(valueOf(rows.with(at, row)));
  }
  function add(): void {
    setAdded(rows.length);
    onChange(valueOf([...rows, { path: '', kind: 'is', value: '' }]));
  }
  function remove(at: number): void {
    setAdded(undefined);
    onChange(valueOf(rows.toSpliced(at, 1)));
    addButton.current?.focus();
  }

  return (
    <fieldset className="field filter" aria-describedby={fault === undefined ? id : `${id}-fault`}>
      <legend className="hidden">Filter</legend>
      <p className="hint" id={id}>
        Sends only events whose data meets all conditions. Name a member, with dots for nested ones:{' '}
        <code>caller.country</code>. A missing member or another type never matches. Numbers, true,
        false and null are not text, unless they are in quotes.
      </p>
      <datalist id={`${id}-members`}>
        {members.map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
      {rows.length > 0 && (
        <ul className="rows">
          {rows.map((row, index) => (
            <li key={index}>
              <Row
                row={row}
                number={index + 1}
                wrong={own?.rows.includes(row) ? own.input : wrongInput(row, faults)}
                isNew={index === added}
                members={`${id}-members`}
                onChange={(next) => change(index, next)}
                onRemove={() => remove(index)}
              />
            </li>
          ))}
        </ul>
      )}
      {fault !== undefined && (
        <p className="problem" id={`${id}-fault`} role="alert">
          {fault}
        </p>
      )}
      <button
        ref={addButton}
        type="button"
        className="small"
        // A button with the focus is not disabled, so that the focus stays.
        aria-disabled={countOf(rows) >= MOST_MEMBERS || undefined}
        onClick={() => countOf(rows) < MOST_MEMBERS && add()}
      >
        <Plus size={14} aria-hidden /> Add a condition
      </button>
      {countOf(rows) >= MOST_MEMBERS && (
        <p className="hint">{MOST_MEMBERS} members are the most that a filter can have.</p>
      )}
      {children}
    </fieldset>
  );
}

function Row({
  row,
  number,
  wrong,
  isNew,
  members,
  onChange,
  onRemove,
}: {
  row: FilterRow;
  number: number;
  /** The input that has a fault. */
  wrong: keyof FilterRow | undefined;
  isNew: boolean;
  /** The id of the suggestions. */
  members: string;
  onChange: (row: FilterRow) => void;
  onRemove: () => void;
}) {
  const { path, kind, value } = row;

  function setKind(next: Kind): void {
    if (next === 'json') onChange({ path, kind: next, value: jsonOfRow(row) });
    else onChange({ path, kind: next, value: hasValue(next) ? value : '' });
  }

  return (
    <>
      <input
        aria-label={`Member ${number}`}
        aria-invalid={wrong === 'path' || undefined}
        placeholder="member"
        list={members}
        autoComplete="off"
        spellCheck={false}
        autoFocus={isNew}
        value={path}
        onChange={({ target }) => onChange({ path: target.value, kind, value })}
      />
      <select
        aria-label={`Condition ${number}`}
        aria-invalid={wrong === 'kind' || undefined}
        value={kind}
        onChange={({ target }) => setKind(target.value as Kind)}
      >
        {Object.entries(KINDS).map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
      {hasValue(kind) ? (
        <input
          aria-label={`Value ${number}`}
          aria-invalid={wrong === 'value' || undefined}
          placeholder={kind === 'anyOf' ? 'value, value, …' : 'value'}
          autoComplete="off"
          spellCheck={false}
          value={value}
          onChange={({ target }) => onChange({ path, kind, value: target.value })}
        />
      ) : (
        <span />
      )}
      <button
        type="button"
        className="plain"
        aria-label={`Remove row ${number}`}
        onClick={onRemove}
      >
        <X size={15} aria-hidden />
      </button>
    </>
  );
}
