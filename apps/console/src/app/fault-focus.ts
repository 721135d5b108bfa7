import { type RefObject, useEffect, useRef } from 'react';

/**
 * Moves the focus to the first input with a fault.
 * @param error of the API
 * @param own faults that were found before sending
 */
export function useFaultFocus(error: unknown, own?: object): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [error, own]);
  return form;
}
