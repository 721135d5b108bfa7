import { lazy, Suspense, useEffect } from 'react';
import { closePalette, isPaletteOpen, type OfferedPage } from './commands.js';
import { useStore } from './store.js';

const OpenPalette = lazy(() => import('./open-palette.js'));

/** Ctrl-K: finds pages, runs actions, and opens resources by name, URL or id, and events by what they contain. */
export function Palette({ pages }: { pages: readonly OfferedPage[] }) {
  const shown = useStore(isPaletteOpen);
  useEffect(() => {
    function onKey(event: globalThis.KeyboardEvent): void {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      isPaletteOpen.set(!isPaletteOpen.get());
    }
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onKey);
      closePalette();
    };
  }, []);
  if (!shown) return null;
  return (
    <Suspense>
      <OpenPalette pages={pages} />
    </Suspense>
  );
}
