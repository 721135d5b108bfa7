import { type RefObject, useEffect, useRef } from 'react';

/**
 * For a form: leads to the first input that something is wrong with.
 * @param error of the API
 * @param own faults that were found before anything was sent
 */
export function useFaultFocus(error: unknown, own?: object): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [error, own]);
  return form;
}
