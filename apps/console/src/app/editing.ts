import { useState } from 'react';

/** What a form holds: texts by the names of its inputs. */
export type Texts = Record<string, string>;

/** Something that is edited, as it is now, and its version: the `ETag`. */
export interface Edited<Values extends Texts> {
  values: Values;
  version: string;
}

/**
 * The values of a form about something that others may change meanwhile. Until something is typed, it follows
 * what they change; afterwards it keeps the version that was edited, which `If-Match` protects.
 */
export function useEditing<Values extends Texts>(now: Edited<Values>) {
  const [base, setBase] = useState(now);
  const [values, setValues] = useState(now.values);
  const changed = changedNames(base.values, values);
  const isDirty = changed.length > 0;
  const isOutdated = now.version !== base.version;

  function follow(): void {
    setBase(now);
    setValues(now.values);
  }
  const theirs = changedNames(base.values, now.values);
  if (!isDirty && (isOutdated || theirs.length > 0)) follow();
  // What changed is nothing that the form has, such as a pause.
  else if (isOutdated && theirs.length === 0) setBase({ ...base, version: now.version });

  return {
    values,
    base,
    isDirty,
    /** What others have changed since, by name; undefined if nothing. */
    changedByOthers: isOutdated && isDirty && theirs.length > 0 ? theirs : undefined,
    change: (some: Partial<Values>) => setValues({ ...values, ...some }),
    /** What is in the form is stored now, as this version. */
    saved: (version: string) => setBase({ values, version }),
    discard: follow,
    /** Puts the own changes on top of what others have changed. */
    rebase: () => {
      const own = Object.fromEntries(changed.map((name) => [name, values[name]]));
      setBase(now);
      setValues({ ...now.values, ...own });
    },
  };
}

function changedNames(before: Texts, after: Texts): string[] {
  return Object.keys(after).filter((name) => before[name] !== after[name]);
}
