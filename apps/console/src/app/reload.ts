/** Loads the page anew if the server answers: else the browser's own error page would take its place. */
export async function reloadIfUp(): Promise<boolean> {
  const isUp = await fetch(location.href, { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (isUp) location.reload();
  return isUp;
}
