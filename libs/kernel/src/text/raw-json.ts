/** JSON text that goes into an answer unchanged. */
export class RawJson {
  constructor(readonly text: string) {}
}

/**
 * The JSON text of an object whose members may be {@link RawJson}, which keeps its big numbers, key
 * order and repeated keys. Undefined members are omitted.
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
