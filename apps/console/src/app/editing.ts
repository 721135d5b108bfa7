import { useDraft } from './drafts.js';

/** What a form holds: texts by the names of its inputs. */
export type Texts = Record<string, string>;

/** Something that is edited, as it is now, and its version: the `ETag`. */
export interface Edited<Values extends Texts> {
  values: Values;
  version: string;
}

/** The name of the draft of a page's form. */
export const EDITED = 'edited';

interface Draft<Values extends Texts> {
  /** What was edited. */
  base: Edited<Values>;
  values: Values;
}

/**
 * The values of a form about something that others may change meanwhile. Until something is typed, it follows
 * what they change; afterwards it keeps the version that was edited, which `If-Match` protects.
 */
export function useEditing<Values extends Texts>(now: Edited<Values>) {
  const { draft, latest, keep } = useDraft<Draft<Values>>(EDITED);
  const edited = draft?.base ?? now;
  const values = draft?.values ?? now.values;
  const theirs = changedNames(edited.values, now.values);
  const isOutdated = now.version !== edited.version;
  // Nothing that the form has was changed, but for example a pause.
  const base = theirs.length === 0 ? now : edited;

  function put(next: Draft<Values>): void {
    const isTyped = changedNames(next.base.values, next.values).length > 0;
    keep(isTyped ? next : undefined);
  }

  return {
    values,
    base,
    isDirty: draft !== undefined,
    /** What others have changed since, by name; undefined if nothing. */
    changedByOthers: isOutdated && theirs.length > 0 ? theirs : undefined,
    change: (some: Partial<Values>) => put({ base, values: { ...values, ...some } }),
    /** These values are stored now, as this version. More may have been typed since they were sent. */
    saved: (stored: Values, version: string) =>
      put({ base: { values: stored, version }, values: latest()?.values ?? stored }),
    discard: () => keep(undefined),
    /** Puts the own changes on top of what others have changed. */
    rebase: () => {
      const own = changedNames(edited.values, values).map((name) => [name, values[name]]);
      put({ base: now, values: { ...now.values, ...Object.fromEntries(own) } as Values });
    },
  };
}

function changedNames(before: Texts, after: Texts): string[] {
  return Object.keys(after).filter((name) => before[name] !== after[name]);
}
