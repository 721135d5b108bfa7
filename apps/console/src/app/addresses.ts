/** Built files lie in `assets/`, one level below the console. */
const up = '..';

/** Where the console is served, with a slash at the end: a proxy may have put a path before it. */
const HOME = import.meta.env.DEV
  ? new URL('/console/', location.href)
  : new URL(`${up}/`, import.meta.url);

/** What the paths of pages begin with, for the router. */
export const BASE_PATH = HOME.pathname.slice(0, -1);

/** What the paths of the API begin with. */
export const API_URL = new URL(up, HOME).href.replace(/\/$/, '');
