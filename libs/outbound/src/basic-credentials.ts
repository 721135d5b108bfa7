/** The user information of a URL as Basic credentials (RFC 7617), if there is any. */
export function basicCredentialsOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const pair = `${bytesOf(username)}:${bytesOf(password)}`;
  return `Basic ${Buffer.from(pair, 'latin1').toString('base64')}`;
}

/** One character for each byte: escaped bytes need not be UTF-8, and a % need not start an escape. */
function bytesOf(text: string): string {
  return text.replace(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
