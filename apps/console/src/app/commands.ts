import { useEffect, useEffectEvent } from 'react';
import type { PageOfResource } from './resource-ids.js';
import { Store } from './store.js';

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
export const isPaletteOpen = new Store(false);

export const openPalette = (): void => isPaletteOpen.set(true);
export const closePalette = (): void => isPaletteOpen.set(false);

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
