import { fetchInTime } from './fetch-in-time.js';

/** Reloads the page if the server answers; otherwise the browser's error page would replace it. */
export async function reloadIfUp(): Promise<boolean> {
  const isUp = await fetchInTime(new Request(location.href, { cache: 'no-store' })).then(
    ({ ok }) => ok,
    () => false,
  );
  if (isUp) location.reload();
  return isUp;
}
