import { Children, cloneElement, type ReactElement, type ReactNode, useId } from 'react';

interface ControlProps {
  id?: string;
  'aria-describedby'?: string | undefined;
  'aria-invalid'?: boolean | undefined;
}

/** A box to tick, with its label beside it. */
export function CheckField({
  label,
  hint,
  error,
  isTicked,
  onChange,
}: {
  label: string;
  hint: string;
  error: string | undefined;
  isTicked: boolean;
  onChange: (isTicked: boolean) => void;
}) {
  const id = useId();
  return (
    <div className="field">
      <div className="choices">
        <label>
          <input
            type="checkbox"
            checked={isTicked}
            aria-describedby={id}
            aria-invalid={error !== undefined || undefined}
            onChange={({ target }) => onChange(target.checked)}
          />
          {label}
        </label>
      </div>
      <p className="hint" id={id}>
        {hint}
      </p>
      {error !== undefined && (
        <p className="problem" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

/** An input with its label, its hint and its fault. */
export function Field({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  /** One input, select or textarea. */
  children: ReactElement<ControlProps>;
}) {
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`];
  const control = cloneElement(Children.only(children), {
    id,
    'aria-describedby': described.filter(Boolean).join(' ') || undefined,
    'aria-invalid': error !== undefined || undefined,
  });
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {control}
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p className="problem" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
