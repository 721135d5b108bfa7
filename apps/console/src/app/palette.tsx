import { type KeyboardEvent, useEffect, useEffectEvent, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { Dialog } from '../components/dialog.js';
import { useNamed } from './names.js';
import { type PageOfResource, pagesOfId } from './resource-ids.js';
import { Store, useStore } from './store.js';

/** Something that the palette finds and does. */
export interface Command {
  name: string;
  /** The heading that it is under. */
  group: string;
  run: () => void;
}

/** Of what has a name, as many are offered. */
const MOST_NAMED = 20;

const commands = new Store<readonly (readonly Command[])[]>([]);
const isOpen = new Store(false);

export const openPalette = (): void => isOpen.set(true);

/** Offers commands in the palette, as long as the component is shown. */
export function useCommands(offered: readonly Command[]): void {
  const names = offered.map(({ name, group }) => `${group}\t${name}`).join('\n');
  const run = useEffectEvent((index: number) => offered[index]?.run());
  useEffect(() => {
    const these = names === '' ? [] : names.split('\n');
    const shown = these.map((line, index) => {
      const [group = '', name = ''] = line.split('\t');
      return { group, name, run: () => run(index) };
    });
    commands.set([...commands.get(), shown]);
    return () => commands.set(commands.get().filter((each) => each !== shown));
  }, [names]);
}

/** Ctrl-K: finds pages, does actions, and opens what has a name or URL, or a pasted id. */
export function Palette({ pages }: { pages: readonly PageOfResource[] }) {
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
      isOpen.set(false);
    };
  }, []);
  return shown && <OpenPalette pages={pages} />;
}

function OpenPalette({ pages }: { pages: readonly PageOfResource[] }) {
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const [, navigate] = useLocation();
  const all = useStore(commands).flat();
  const id = useId();

  const named = useNamed();

  const words = text.trim().toLowerCase().split(/\s+/);
  const isMeant = (searched: string) =>
    words.every((word) => searched.toLowerCase().includes(word));
  const found = all.filter(({ name, group }) => isMeant(`${group} ${name}`));
  if (text.trim() !== '') {
    const meant = named.filter(({ searched }) => isMeant(searched)).slice(0, MOST_NAMED);
    found.push(
      ...meant.map(({ name, group, path }) => ({ name, group, run: () => navigate(path) })),
    );
  }
  const byId = pagesOfId(text, pages).map(({ name, path }) => ({
    name,
    group: 'Pages',
    run: () => navigate(path),
  }));
  found.unshift(...byId);
  const wanted = text.trim();
  if (found.length === 0 && /^\S{3,}$/.test(wanted)) {
    found.push({
      name: `Events with the producer’s id ${wanted}`,
      group: 'Events',
      run: () => navigate(`/events?producerId=${encodeURIComponent(wanted)}`),
    });
  }

  function run(command: Command | undefined): void {
    if (!command) return;
    isOpen.set(false);
    command.run();
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && found.length > 0) {
      event.preventDefault();
      setActive((active + step + found.length) % found.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      run(found[active]);
    }
  }

  return (
    <Dialog label="Find a page or an action" className="palette" onClose={() => isOpen.set(false)}>
      <input
        role="combobox"
        aria-label="Find a page or an action"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found[active] && `${id}-${active}`}
        placeholder="Find a page, an action, a name or an id"
        autoFocus
        value={text}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setText(event.target.value);
          setActive(0);
        }}
      />
      <div id={id} role="listbox" aria-label="Found">
        {found.map((command, index) => (
          <div
            key={`${command.group}/${command.name}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            onClick={() => run(command)}
            onPointerMove={() => setActive(index)}
          >
            <bdi>{command.name}</bdi> <span className="quiet">{command.group}</span>
          </div>
        ))}
      </div>
      <p role="status" className="quiet">
        {found.length === 0 ? 'Nothing found. Try another word.' : ''}
      </p>
    </Dialog>
  );
}
