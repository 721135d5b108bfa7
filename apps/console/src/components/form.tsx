import '../styles/form.css';
import { ChevronRight } from 'lucide-react';
import { type ReactNode, useState } from 'react';

/** Inputs that belong together, in a card with a heading. */
export function FormGroup({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className="card group">
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}

/** Inputs that are rarely used: folded, with a summary of what they hold. */
export function Folded({
  title,
  summary,
  isWrong,
  children,
}: {
  title: string;
  summary: string;
  /** Whether something is wrong inside: it is unfolded then. */
  isWrong: boolean;
  children: ReactNode;
}) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details
      className="folded"
      open={isOpen || isWrong}
      onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
    >
      <summary>
        <ChevronRight size={14} aria-hidden /> {title} <span className="holds">{summary}</span>
      </summary>
      {children}
    </details>
  );
}

/** The end of a form, which stays in view: its button, and what stands in its way. */
export function FormFoot({
  action,
  icon,
  isDisabled,
  problem,
  onDiscard,
  children,
}: {
  /** What the button says. */
  action: string;
  icon: ReactNode;
  isDisabled: boolean;
  /** What is wrong and cannot be said beside an input. */
  problem: ReactNode;
  /** Absent while nothing is typed. */
  onDiscard: (() => void) | undefined;
  children?: ReactNode;
}) {
  return (
    <div className="form-foot">
      {children}
      <p className="problem" role="alert">
        {problem}
      </p>
      <div className="buttons">
        <button type="submit" className="primary" disabled={isDisabled}>
          {icon} {action}
        </button>
        {onDiscard && (
          <>
            <button type="button" onClick={onDiscard}>
              Discard changes
            </button>
            <span className="quiet">Not saved yet</span>
          </>
        )}
      </div>
    </div>
  );
}
