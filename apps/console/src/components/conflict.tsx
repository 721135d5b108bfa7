import { Notice } from './notice.js';

/** Tells the user that others have changed the edited resource, and asks what to do. */
export function Conflict({
  what,
  fields,
  onKeep,
  onDiscard,
}: {
  /** `this application` */
  what: string;
  /** The labels of the fields that they have changed. */
  fields: readonly string[];
  onKeep: () => void;
  onDiscard: () => void;
}) {
  return (
    <div className="conflict" role="alert">
      <Notice tone="waiting">
        <p>
          Somebody else has changed {what} since you began ({fields.join(', ')}). Your changes are
          not saved.
        </p>
        <div className="tools">
          <button type="button" onClick={onKeep}>
            Apply mine on top
          </button>
          <button type="button" onClick={onDiscard}>
            Discard mine
          </button>
        </div>
      </Notice>
    </div>
  );
}
