import { useId } from 'react';
import { RESOURCES } from '../subscriptions/event-kinds.js';

/** The resources of a subscription: all, or some. */
export function ResourceChoices({
  label,
  value,
  error,
  onChange,
}: {
  label: string;
  /** `all`, or a list: `call,sms`. */
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}) {
  const id = useId();
  const chosen = value === '' ? [] : value.split(',');
  const isAll = chosen.includes('all');
  function toggle(kind: string): void {
    const others = chosen.filter((each) => each !== kind && each !== 'all');
    onChange((chosen.includes(kind) ? others : [...others, kind]).join(','));
  }
  return (
    <fieldset className="choices-field" aria-describedby={error === undefined ? undefined : id}>
      <legend>{label}</legend>
      <div className="choices">
        <label>
          <input
            type="checkbox"
            checked={isAll}
            aria-invalid={error !== undefined || undefined}
            onChange={() => onChange(isAll ? '' : 'all')}
          />
          all, including future ones
        </label>
        {RESOURCES.map((kind) => (
          <label key={kind}>
            <input
              type="checkbox"
              checked={isAll || chosen.includes(kind)}
              disabled={isAll}
              onChange={() => toggle(kind)}
            />
            {kind}
          </label>
        ))}
      </div>
      {error !== undefined && (
        <p className="problem" id={id} role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}
