import { useDraft } from './drafts.js';

/** The values of a form, by the names of its inputs. */
export type Texts = Record<string, string>;

/** The current state of the edited resource, and its version: the `ETag`. */
export interface Edited<Values extends Texts> {
  values: Values;
  version: string;
}

/** The name of the form's draft. */
export const EDITED = 'edited';

interface Draft<Values extends Texts> {
  /** The state that the edit started from. */
  base: Edited<Values>;
  values: Values;
}

/**
 * The values of a form about a resource that others may change. Without input, it follows their changes. From the first
 * input on, it keeps the version that was edited, for `If-Match`.
 */
export function useEditing<Values extends Texts>(now: Edited<Values>) {
  const { draft, latest, keep } = useDraft<Draft<Values>>(EDITED);
  const edited = draft?.base ?? now;
  const values = draft?.values ?? now.values;
  const theirs = changedNames(edited.values, now.values);
  const isOutdated = now.version !== edited.version;
  // Only other members changed, for example a pause.
  const base = theirs.length === 0 ? now : edited;

  function put(next: Draft<Values>): void {
    const isTyped = changedNames(next.base.values, next.values).length > 0;
    keep(isTyped ? next : undefined);
  }

  return {
    values,
    base,
    isDirty: draft !== undefined,
    /** The fields that others have changed since, by name; undefined if none. */
    changedByOthers: isOutdated && theirs.length > 0 ? theirs : undefined,
    change: (some: Partial<Values>) => put({ base, values: { ...values, ...some } }),
    /**
     * Marks these values as stored in this version. The user may have typed more since they were sent, or taken all of it
     * back, which leaves no draft.
     */
    saved: (stored: Values, version: string) =>
      put({ base: { values: stored, version }, values: latest()?.values ?? base.values }),
    discard: () => keep(undefined),
    /** Reapplies the user's changes to the version that others changed. */
    rebase: () => {
      const own = changedNames(edited.values, values).map((name) => [name, values[name]]);
      put({ base: now, values: { ...now.values, ...Object.fromEntries(own) } as Values });
    },
  };
}

function changedNames(before: Texts, after: Texts): string[] {
  return Object.keys(after).filter((name) => before[name] !== after[name]);
}
