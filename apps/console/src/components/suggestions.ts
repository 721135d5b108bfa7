import type { Filter } from './filters.js';

/** A page of one thing, for a text that is an id. */
export interface Opened {
  /** What it is, such as `Delivery`. */
  kind: string;
  path: string;
}

/** What a search field offers for a text: to set a filter, or to open a page. */
export interface Suggestion {
  /** The label of the filter, or the kind of the page. */
  kind: string;
  name: string;
  /** Tells it from others with the same name. */
  detail?: string | undefined;
  target: { filter: string; value: string } | { path: string };
}

/** At most this many choices of a filter are offered; a longer text finds the others. */
const MOST_CHOICES = 8;

/** What a text may mean, by kind: choices that have it in their names, then the text itself. */
export function suggestionsFor(
  text: string,
  filters: readonly Filter[],
  opensOf: (id: string) => readonly Opened[] = () => [],
): Suggestion[] {
  const wanted = text.trim();
  if (wanted === '') return [];
  const opened = opensOf(wanted).map(({ kind, path }) => ({
    kind,
    name: wanted,
    target: { path },
  }));
  return [
    ...opened,
    ...filters.flatMap((filter) => choicesOf(filter, wanted.toLowerCase())),
    ...filters
      .filter(({ accepts, choices = [] }) => accepts?.test(wanted) && !choices.includes(wanted))
      .map(({ name, label, hint }) => ({
        kind: label,
        name: wanted,
        detail: hint,
        target: { filter: name, value: wanted },
      })),
  ];
}

function choicesOf(
  { name, label, choices = [], names = {}, details = {} }: Filter,
  wanted: string,
): Suggestion[] {
  const has = (text = ''): boolean => text.toLowerCase().includes(wanted);
  return choices
    .filter((value) =>
      // Ids of named choices are no words.
      names[value] === undefined
        ? has(value)
        : has(names[value]) || has(details[value]) || value.toLowerCase() === wanted,
    )
    .slice(0, MOST_CHOICES)
    .map((value) => ({
      kind: label,
      name: names[value] ?? value,
      detail: details[value],
      target: { filter: name, value },
    }));
}
