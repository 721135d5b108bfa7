import { useMemo, useSyncExternalStore } from 'react';

/** Below this width, in CSS pixels, the sidebar becomes a drawer, and a panel becomes a page. */
const NARROW = window.matchMedia('(width < 900px)');

/** Whether a media query matches. */
function useMedia(query: MediaQueryList): boolean {
  return useSyncExternalStore(
    (onChange) => {
      query.addEventListener('change', onChange);
      return () => query.removeEventListener('change', onChange);
    },
    () => query.matches,
  );
}

export const useIsNarrow = (): boolean => useMedia(NARROW);

/** Whether the window is at least this many CSS pixels wide. */
export const useFits = (width: number): boolean =>
  useMedia(useMemo(() => window.matchMedia(`(width >= ${width}px)`), [width]));
