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

/** Inputs that can only be read. */
export function ReadOnly({ children }: { children: ReactNode }) {
  return (
    <fieldset className="settings read-only" disabled>
      {children}
    </fieldset>
  );
}

/** Rarely used inputs: collapsed, with a summary of their values. */
export function Folded({
  title,
  summary,
  isWrong,
  children,
}: {
  title: string;
  summary: string;
  /** Whether an input inside has a fault: then it is open. */
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

/** The footer of a form, always in view: its button, and what prevents saving. */
export function FormFoot({
  action,
  icon,
  isDisabled,
  problem,
  onDiscard,
  decision,
}: {
  /** The button's text. */
  action: string;
  icon: ReactNode;
  isDisabled: boolean;
  /** A fault that no input can show. */
  problem: ReactNode;
  /** Absent while there are no changes. */
  onDiscard: (() => void) | undefined;
  /** What the user has to decide first: replaces the buttons. */
  decision?: ReactNode;
}) {
  if (decision) return <div className="form-foot">{decision}</div>;
  return (
    <div className="form-foot">
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
