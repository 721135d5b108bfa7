import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';

export interface Tab {
  name: string;
  content: ReactNode;
}

/** Tabs, of which one is shown. Arrow keys move between them. */
export function Tabs({
  label,
  tabs,
  first = 0,
}: {
  label: string;
  tabs: readonly Tab[];
  /** The tab that is shown at first. */
  first?: number;
}) {
  const [chosen, setChosen] = useState<number>();
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const at = Math.min(chosen ?? first, tabs.length - 1);

  function onKeyDown(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (at + step + tabs.length) % tabs.length;
    setChosen(next);
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  }

  return (
    <>
      <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map(({ name }, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${index}`}
            aria-selected={index === at}
            aria-controls={`${id}-panel`}
            tabIndex={index === at ? 0 : -1}
            onClick={() => setChosen(index)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${at}`} className="tab-panel">
        {tabs[at]?.content}
      </div>
    </>
  );
}
