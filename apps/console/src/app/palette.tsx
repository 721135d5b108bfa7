import { lazy, Suspense, useEffect, useEffectEvent } from 'react';
import type { PageOfResource } from './resource-ids.js';
import { Store, useStore } from './store.js';

const OpenPalette = lazy(() => import('./open-palette.js'));

/** An entry of the palette. */
export interface Command {
  name: string;
  /** Distinguishes it from entries with the same name. */
  detail?: string | undefined;
  /** Its heading. */
  group: string;
  run: () => void;
}

/** A page with an optional name in the navigation. */
export type OfferedPage = PageOfResource & { name?: string };

/** What mounted components offer. */
export const offeredCommands = new Store<readonly (readonly Command[])[]>([]);
const isOpen = new Store(false);

export const openPalette = (): void => isOpen.set(true);
export const closePalette = (): void => isOpen.set(false);

/** Offers commands in the palette while the component is mounted. */
export function useCommands(offered: readonly Command[]): void {
  const names = offered.map(({ name, group }) => `${group}\t${name}`).join('\n');
  const run = useEffectEvent((index: number) => offered[index]?.run());
  useEffect(() => {
    const these = names === '' ? [] : names.split('\n');
    const shown = these.map((line, index) => {
      const [group = '', name = ''] = line.split('\t');
      return { group, name, run: () => run(index) };
    });
    offeredCommands.set([...offeredCommands.get(), shown]);
    return () => offeredCommands.set(offeredCommands.get().filter((each) => each !== shown));
  }, [names]);
}

/** Ctrl-K: finds pages, runs actions, and opens resources by name, URL or id, and events by what they contain. */
export function Palette({ pages }: { pages: readonly OfferedPage[] }) {
  const shown = useStore(isOpen);
  useEffect(() => {
    function onKey(event: globalThis.KeyboardEvent): void {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      isOpen.set(!isOpen.get());
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
