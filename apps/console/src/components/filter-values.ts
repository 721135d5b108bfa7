const two = (value: number): string => String(value).padStart(2, '0');

/** A time in the viewer's zone, as `datetime-local` inputs have it; empty if it is none. */
export function localInputOf(time: string): string {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return '';
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day}T${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')}`;
}

/** The time in UTC of what a `datetime-local` input has; empty if it is none. */
export function timeOfInput(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}
