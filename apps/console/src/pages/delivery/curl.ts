/** Quotes a text for the shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A command that sends a request again, with the same body. */
export function curlOf(
  { method, url, headers }: { method: string; url: string; headers: Record<string, string> },
  body: string,
): string {
  const lines = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return [`curl -X ${method} ${quoted(url)}`, ...lines, `--data-raw ${quoted(body)}`].join(
    ' \\\n  ',
  );
}
