/** What is wrong with a request, by field; one inside of another is a JSON Pointer. */
export type Faults = Readonly<Record<string, string>>;

const isAt = (field: string, name: string): boolean =>
  field === name || field === `/${name}` || field.startsWith(`/${name}/`);

/** What is wrong with a field, and with everything inside of it; undefined if nothing. */
export function faultAt(faults: Faults, name: string): string | undefined {
  const found = Object.entries(faults).filter(([field]) => isAt(field, name));
  return found.length === 0 ? undefined : found.map(([, message]) => message).join(' ');
}

/** Whether there are faults, and each of them is shown beside an input of one of these names. */
export function areAllShown(faults: Faults, names: readonly string[]): boolean {
  const fields = Object.keys(faults);
  return fields.length > 0 && fields.every((field) => names.some((name) => isAt(field, name)));
}

/**
 * Faults in the words of a form: the API's messages begin with the name of the field, or with the JSON Pointer to
 * what is inside of it, and may mention other fields.
 * @param labels by name, or by path: `retry/timeoutMs`
 */
export function inWords(faults: Faults, labels: Faults): Record<string, string> {
  return Object.fromEntries(
    Object.entries(faults).map(([field, message]) => {
      const word = wordOf(field, labels);
      const isNamed = word !== undefined && message.startsWith(`${field} `);
      const [start, rest] = isNamed ? [word, message.slice(field.length)] : ['', message];
      return [field, start + rest.replace(CAMEL_CASE, (name) => labels[name] ?? name)];
    }),
  );
}

/** Names that are no words. */
const CAMEL_CASE = /\b[a-z]+[A-Z]\w*/g;

/** `Headers (X-Api-Key)`, `Retries (2)`. */
function wordOf(field: string, labels: Faults): string | undefined {
  const path = field.replace(/^\//, '').split('/');
  for (let length = path.length; length > 0; length -= 1) {
    const label = labels[path.slice(0, length).join('/')];
    const inside = path[length];
    if (label !== undefined) return inside === undefined ? label : `${label} (${partText(inside)})`;
  }
  return undefined;
}

/** People count from one. */
const partText = (part: string): string =>
  /^\d+$/.test(part) ? String(Number(part) + 1) : part.replaceAll('~1', '/').replaceAll('~0', '~');
