import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { Confirm } from '../components/confirm.js';
import { Dialog } from '../components/dialog.js';
import { faultsOf, sentenceOf } from './api.js';
import { useDraft } from './drafts.js';
import type { Texts } from './editing.js';
import { useFaultFocus } from './fault-focus.js';

const textsOf = (form: HTMLFormElement): Texts => Object.fromEntries(new FormData(form)) as Texts;

/**
 * A dialog with a form that creates something. It asks before it discards input. If the user leaves the page, the draft
 * named `label` is kept: open the dialog again with `useHasDraft`.
 */
export function FormDialog({
  label,
  action,
  labels,
  made: { error, isPending },
  onSubmit,
  onClose,
  children,
}: {
  label: string;
  /** The button's text. */
  action: string;
  /** Of the inputs, by the API's field names. */
  labels: Readonly<Record<string, string>>;
  /** The request, and the API's refusal. */
  made: { error: Error | null; isPending: boolean };
  /** Gets a function that reads an input by its name, and a callback for when it is done. */
  onSubmit: (text: (name: string) => string, done: () => void) => void;
  onClose: () => void;
  /** The inputs. */
  children: (faults: Record<string, string>) => ReactNode;
}) {
  const { draft, latest, keep } = useDraft<Texts>(label);
  const [isAsked, setIsAsked] = useState(false);
  const element = useFaultFocus(error);
  const untouched = useRef<Texts>(undefined);
  const faults = faultsOf(error, labels);
  const isOther = error && Object.keys(faults).length === 0;

  const restore = useEffectEvent((form: HTMLFormElement) => {
    untouched.current ??= textsOf(form);
    for (const [name, text] of Object.entries(latest() ?? {})) {
      (form.elements.namedItem(name) as HTMLInputElement).value = text;
    }
  });
  useEffect(() => {
    if (element.current) restore(element.current);
  }, [element]);

  function note(form: HTMLFormElement): void {
    const texts = textsOf(form);
    const isTyped = Object.entries(texts).some(
      ([name, text]) => untouched.current?.[name] !== text,
    );
    keep(isTyped ? texts : undefined);
  }

  function leave(): void {
    keep(undefined);
    onClose();
  }
  const close = () => (draft ? setIsAsked(true) : onClose());

  return (
    <>
      <Dialog label={label} onClose={close}>
        <h2>{label}</h2>
        <form
          ref={element}
          onInput={({ currentTarget }) => note(currentTarget)}
          onSubmit={(event) => {
            event.preventDefault();
            const texts = textsOf(event.currentTarget);
            onSubmit((name) => texts[name] ?? '', leave);
          }}
          noValidate
        >
          {children(faults)}
          <p className="problem" role="alert">
            {isOther && sentenceOf(error)}
          </p>
          <div className="tools">
            <button type="submit" className="primary" disabled={isPending}>
              {action}
            </button>
            <button type="button" onClick={close}>
              Cancel
            </button>
          </div>
        </form>
      </Dialog>
      {isAsked && (
        <Confirm
          label="Leave without saving?"
          action="Leave"
          isBusy={false}
          onConfirm={leave}
          onClose={() => setIsAsked(false)}
        >
          <p>Your input will be lost.</p>
        </Confirm>
      )}
    </>
  );
}
