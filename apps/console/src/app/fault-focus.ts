import { type RefObject, useEffect, useRef } from 'react';

/**
 * Moves the focus to the first input with a fault, and its message into view.
 * @param error of the API
 * @param own faults that were found before sending
 */
export function useFaultFocus(error: unknown, own?: object): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const input = form.current?.querySelector<HTMLElement>('[aria-invalid=true]');
    input?.focus();
    input
      ?.closest('.field, .choices-field')
      ?.querySelector('.problem')
      ?.scrollIntoView({ block: 'nearest' });
  }, [error, own]);
  return form;
}
