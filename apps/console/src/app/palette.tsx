import { type ComponentType, useEffect, useState } from 'react';
import { closePalette, isPaletteOpen, type OfferedPage } from './commands.js';
import { useStore } from './store.js';

/** Loads beside the first page, so that it takes the first key that is typed after Ctrl-K. */
const loading = import('./open-palette.js');

type PaletteProps = { pages: readonly OfferedPage[] };

/** Ctrl-K: finds pages, runs actions, and opens resources by name, URL or id, and events by what they contain. */
export function Palette({ pages }: PaletteProps) {
  const shown = useStore(isPaletteOpen);
  const [Open, setOpen] = useState<ComponentType<PaletteProps>>();
  useEffect(() => {
    void loading.then((loaded) => setOpen(() => loaded.default));
  }, []);
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
  return shown && Open && <Open pages={pages} />;
}
