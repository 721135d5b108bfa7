/** JSON text that goes into an answer as it is. */
export class RawJson {
  constructor(readonly text: string) {}
}

/**
 * The JSON text of an object whose members may be {@link RawJson}: those keep their big numbers,
 * the order of their keys and their repeated keys. Members that are undefined are left out.
 */
export function jsonText(object: object): string {
  const members: string[] = [];
  for (const [name, value] of Object.entries(object) as [string, unknown][]) {
    if (value === undefined) continue;
    const text = value instanceof RawJson ? value.text : JSON.stringify(value);
    members.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${members.join(',')}}`;
}
