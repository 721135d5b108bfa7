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
