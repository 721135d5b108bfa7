import { useSyncExternalStore } from 'react';

/** Below this width, in CSS pixels, the side bar is a drawer, and a panel is a page. */
const NARROW = window.matchMedia('(width < 900px)');

function follow(onChange: () => void): () => void {
  NARROW.addEventListener('change', onChange);
  return () => NARROW.removeEventListener('change', onChange);
}

export function useIsNarrow(): boolean {
  return useSyncExternalStore(follow, () => NARROW.matches);
}
