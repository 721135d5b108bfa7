import type { Filter } from './filters.js';

const two = (value: number): string => String(value).padStart(2, '0');

/** A time in the viewer's zone, in the format of `datetime-local` inputs; empty if it is not a time. */
export function localInputOf(time: string): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return '';
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day}T${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')}`;
}

/** The value of a `datetime-local` input in UTC; empty if it is not a time. */
export function timeOfInput(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}

/** At most this many characters of a wrong value are shown. */
const MOST_QUOTED = 60;
/** Characters that would change the direction of the rest of the sentence. */
const BIDI = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Describes a wrong filter of the address. @param says the API's message, for other kinds of filters
 */
export function faultText(
  { label, kind, choices }: Pick<Filter, 'label' | 'kind' | 'choices'>,
  value: string,
  says: string,
): string {
  const text = value.replace(BIDI, '');
  const given = text.length > MOST_QUOTED ? `${text.slice(0, MOST_QUOTED)}…` : text;
  if (kind === 'choice' && choices) return `${label}: “${given}” is not one of the choices.`;
  if (kind === 'time') return `${label}: “${given}” is not a time.`;
  return says.replace(/^The query parameter \S+/, label);
}
