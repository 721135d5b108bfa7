import { useEffect, useEffectEvent } from 'react';

/** Where keys are typed, or belong to something that lies over the page. */
const ELSEWHERE = 'dialog, input:not([type=checkbox]), select, textarea, [popover], [role=menu]';

/**
 * Handles a key that is pressed on the page, alone, and not where it has another meaning. @param onKey returns whether
 * it handled the key
 */
export function usePageKeys(onKey: (key: string, target: Element) => boolean): void {
  const handle = useEffectEvent(onKey);
  useEffect(() => {
    function listener(event: KeyboardEvent): void {
      const { key, target, defaultPrevented, ctrlKey, metaKey, altKey } = event;
      if (defaultPrevented || ctrlKey || metaKey || altKey || !(target instanceof Element)) return;
      if (!target.closest(ELSEWHERE) && handle(key, target)) event.preventDefault();
    }
    window.addEventListener('keydown', listener);
    return () => window.removeEventListener('keydown', listener);
  }, []);
}

/** Moves the focus to the row of the page's list where it was last, or to the first one. */
export function goToList(): void {
  document.querySelector<HTMLElement>('main .table .body a[tabindex="0"]')?.focus();
}
