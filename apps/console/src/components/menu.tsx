import '../styles/menu.css';
import { Ellipsis } from 'lucide-react';
import { type KeyboardEvent, useId, useRef } from 'react';

export interface MenuItem {
  name: string;
  run: () => void;
  /** Whether it destroys something. */
  isDangerous?: boolean;
}

/** Rarely used actions, behind a button. Arrow keys move between them. */
export function Menu({ label, items }: { label: string; items: readonly MenuItem[] }) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);

  function place(): void {
    const element = menu.current;
    if (!button.current || !element?.matches(':popover-open')) return;
    const { right, bottom } = button.current.getBoundingClientRect();
    element.style.top = `${bottom + 6}px`;
    element.style.right = `${document.documentElement.clientWidth - right}px`;
    itemsOf(element)[0]?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || !menu.current) return;
    event.preventDefault();
    const all = itemsOf(menu.current);
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    all[(at + step + all.length) % all.length]?.focus();
  }

  return (
    <>
      <button ref={button} type="button" aria-label={label} aria-haspopup="menu" popoverTarget={id}>
        <Ellipsis size={16} aria-hidden />
      </button>
      <div
        ref={menu}
        id={id}
        className="menu"
        role="menu"
        aria-label={label}
        popover="auto"
        onToggle={place}
        onKeyDown={onKeyDown}
      >
        {items.map(({ name, run, isDangerous }) => (
          <button
            key={name}
            type="button"
            role="menuitem"
            className={isDangerous ? 'dangerous' : undefined}
            onClick={() => {
              menu.current?.hidePopover();
              run();
            }}
          >
            {name}
          </button>
        ))}
      </div>
    </>
  );
}

const itemsOf = (menu: HTMLElement) => [
  ...menu.querySelectorAll<HTMLButtonElement>('[role=menuitem]'),
];
