/** The user information of a URL as Basic credentials (RFC 7617), if it has any. */
export function basicCredentialsOf({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const pair = `${bytesOf(username)}:${bytesOf(password)}`;
  return `Basic ${Buffer.from(pair, 'latin1').toString('base64')}`;
}

/** A character for each byte: what is escaped need not be UTF-8, and a % need not be an escape. */
function bytesOf(text: string): string {
  return text.replace(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
