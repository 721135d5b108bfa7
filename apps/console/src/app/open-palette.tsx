import './palette.css';
import { skipToken, useQuery } from '@tanstack/react-query';
import {
  AppWindow,
  CornerDownLeft,
  type LucideIcon,
  Plus,
  Search,
  Settings2,
  Users,
  Webhook,
  Zap,
} from 'lucide-react';
import { type KeyboardEvent, useId, useState } from 'react';
import { useLocation } from 'wouter';
import { Dialog } from '../components/dialog.js';
import { localText } from '../components/time.js';
import type { Schemas } from './api.js';
import { useNamed } from './names.js';
import { DEVELOPER_ICONS, PAGE_ICONS } from './page-icons.js';
import { closePalette, type Command, type OfferedPage, offeredCommands } from './commands.js';
import { canBeSearched, foundEventsQuery } from './palette.queries.js';
import { pagesOfId } from './resource-ids.js';
import { useStore } from './store.js';

/** The headings in their order, each with the icon of its entries. */
const GROUPS: Readonly<Record<string, LucideIcon>> = {
  Open: CornerDownLeft,
  Pages: CornerDownLeft,
  Actions: Zap,
  Applications: AppWindow,
  Subscriptions: Webhook,
  Accounts: Users,
  Events: Zap,
  Console: Settings2,
};

/** Offers at most this many named entries. */
const MOST_NAMED = 20;

/** The palette while it is open. */
export default function OpenPalette({ pages }: { pages: readonly OfferedPage[] }) {
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const [, navigate] = useLocation();
  const all = useStore(offeredCommands).flat();
  const id = useId();

  const named = useNamed();

  const wanted = text.trim();
  const words = wanted.toLowerCase().split(/\s+/);
  const isMeant = (searched: string) =>
    words.every((word) => searched.toLowerCase().includes(word));
  const found: Command[] = [
    ...pagesOfId(text, pages).map(({ name, path }) => leading(name, 'Open', path)),
    ...all.filter(({ name, group }) => isMeant(`${group} ${name}`)),
  ];
  if (wanted !== '') {
    const meant = named.filter(({ searched }) => isMeant(searched)).slice(0, MOST_NAMED);
    found.push(
      ...meant.map(({ name, detail, group, path }) => ({ ...leading(name, group, path), detail })),
    );
  }
  const triesEvents = found.length === 0 && canBeSearched(wanted);
  const { data: events } = useQuery({
    ...foundEventsQuery(wanted),
    ...(!triesEvents && { queryFn: skipToken }),
  });
  if (triesEvents) {
    found.push(...(events ?? []).map(eventOf));
    if (!events) found.push(searching('events', 'producerId', 'Events with the producer’s id'));
    found.push(
      ...[
        searching('events', 'contains', 'Events with the text'),
        searching('deliveries', 'contains', 'Deliveries with the text'),
      ].map((command) => ({ ...command, detail: 'case-sensitive' })),
    );
  }
  const names = new Set([...Object.keys(GROUPS), ...found.map(({ group }) => group)]);
  const groups = [...names].flatMap((group) => {
    const of = found.filter((command) => command.group === group);
    return of.length === 0 ? [] : [{ group, of }];
  });
  const shown = groups.flatMap(({ of }) => of);

  function leading(name: string, group: string, path: string): Command {
    return { name, group, run: () => navigate(path) };
  }
  function eventOf({ id: eventId, event, resource, producerId, createdAt }: Schemas['Event']) {
    const name = `${event} · ${resource}, ${localText(createdAt)}`;
    return { ...leading(name, 'Events', `/events/${eventId}`), detail: producerId ?? eventId };
  }
  function searching(list: string, filter: string, name: string): Command {
    const path = `/${list}?${filter}=${encodeURIComponent(wanted)}`;
    return leading(`${name} ${wanted}`, 'Events', path);
  }
  function run(command: Command | undefined): void {
    if (!command) return;
    closePalette();
    command.run();
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && shown.length > 0) {
      event.preventDefault();
      const next = (active + step + shown.length) % shown.length;
      setActive(next);
      document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter') {
      event.preventDefault();
      run(shown[active]);
    }
  }

  return (
    <Dialog label="Find a page or an action" className="palette" onClose={closePalette}>
      <div className="wanted">
        <Search size={16} aria-hidden />
        <input
          role="combobox"
          aria-label="Find a page or an action"
          aria-expanded={shown.length > 0}
          aria-controls={id}
          aria-activedescendant={shown[active] && `${id}-${active}`}
          placeholder="Find a page, an action, a name or an id"
          autoComplete="off"
          spellCheck={false}
          autoFocus
          value={text}
          onKeyDown={onKeyDown}
          onChange={(event) => {
            setText(event.target.value);
            setActive(0);
          }}
        />
      </div>
      <div id={id} role="listbox" aria-label="Found" hidden={shown.length === 0}>
        {groups.map(({ group, of }) => (
          <div key={group} role="group" aria-labelledby={`${id}-${group}`}>
            <p id={`${id}-${group}`} role="presentation">
              {group}
            </p>
            {of.map((command) => {
              const index = shown.indexOf(command);
              const Icon = iconOf(command, pages);
              return (
                <div
                  key={index}
                  id={`${id}-${index}`}
                  role="option"
                  aria-selected={index === active}
                  onClick={() => run(command)}
                  onPointerMove={() => setActive(index)}
                >
                  <Icon size={16} aria-hidden />
                  <bdi>{command.name}</bdi>
                  {command.detail !== undefined && (
                    <>
                      {' '}
                      <span className="mono">{command.detail}</span>
                    </>
                  )}
                  <kbd aria-hidden>Enter</kbd>
                </div>
              );
            })}
          </div>
        ))}
      </div>
      <p role="status" className="nothing">
        {shown.length === 0 && 'Nothing found. Try another word, a whole name or an id.'}
      </p>
      <p className="keys quiet" aria-hidden>
        <span>
          <kbd>↑</kbd> <kbd>↓</kbd> choose
        </span>
        <span>
          <kbd>Enter</kbd> open
        </span>
        <span>
          <kbd>Esc</kbd> close
        </span>
      </p>
    </Dialog>
  );
}

/** Pages have the sidebar's icons. */
function iconOf({ name, group }: Command, pages: readonly OfferedPage[]): LucideIcon {
  if (group === 'Actions' && name.startsWith('New ')) return Plus;
  const path = group === 'Pages' ? pages.find((page) => page.name === name)?.path : undefined;
  return PAGE_ICONS[path ?? ''] ?? DEVELOPER_ICONS[name] ?? GROUPS[group] ?? Zap;
}
