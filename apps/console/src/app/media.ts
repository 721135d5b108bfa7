import { useMemo, useSyncExternalStore } from 'react';

/** Below this width, in CSS pixels, the side bar is a drawer, and a panel is a page. */
const NARROW = window.matchMedia('(width < 900px)');

/** Whether a media query holds. */
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

/** Whether the window has at least so many CSS pixels. */
export const useFits = (width: number): boolean =>
  useMedia(useMemo(() => window.matchMedia(`(width >= ${width}px)`), [width]));
