/** Built files are in `assets/`, one level below the console. */
const up = '..';

/** The URL of the console, with a trailing slash. A proxy may add a path prefix. */
const HOME = import.meta.env.DEV
  ? new URL('/console/', location.href)
  : new URL(`${up}/`, import.meta.url);

/** The prefix of page paths, for the router. */
export const BASE_PATH = HOME.pathname.slice(0, -1);

/** The prefix of API paths. */
export const API_URL = new URL(up, HOME).href.replace(/\/$/, '');
