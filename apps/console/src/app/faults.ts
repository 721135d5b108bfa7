/** The faults of a request, by field; nested fields are JSON Pointers. */
export type Faults = Readonly<Record<string, string>>;

const isAt = (field: string, name: string): boolean =>
  field === name || field === `/${name}` || field.startsWith(`/${name}/`);

/** The fault of a field and of everything inside it; undefined if there is none. */
export function faultAt(faults: Faults, name: string): string | undefined {
  const found = Object.entries(faults).filter(([field]) => isAt(field, name));
  return found.length === 0 ? undefined : found.map(([, message]) => message).join(' ');
}

/** Whether there are faults, and one of these inputs can show each. */
export function areAllShown(faults: Faults, names: readonly string[]): boolean {
  const fields = Object.keys(faults);
  return fields.length > 0 && fields.every((field) => names.some((name) => isAt(field, name)));
}

/**
 * Rewords faults for a form. The API's messages start with the field's name, or with the JSON Pointer to a nested
 * value, and may mention other fields.
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

/** Names that are not ordinary words. */
const CAMEL_CASE = /\b[a-z]+[A-Z]\w*/g;

/** `Headers (X-Api-Key)`, `Retries (2)`, `Filter (call.duration, not, 2)`. */
function wordOf(field: string, labels: Faults): string | undefined {
  const path = field.replace(/^\//, '').split('/');
  for (let length = path.length; length > 0; length -= 1) {
    const label = labels[path.slice(0, length).join('/')];
    if (label === undefined) continue;
    const inside = path.slice(length).map(partText).join(', ');
    return inside === '' ? label : `${label} (${inside})`;
  }
  return undefined;
}

/** Users count from one. */
const partText = (part: string): string =>
  /^\d+$/.test(part) ? String(Number(part) + 1) : part.replaceAll('~1', '/').replaceAll('~0', '~');
