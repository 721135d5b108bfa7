import { Store, useStore } from '../app/store.js';
import type { Tone } from './notice.js';

interface Toast {
  id: number;
  text: string;
  tone: Tone;
}

const SHOWN_MS = 8_000;
const toasts = new Store<readonly Toast[]>([]);
let count = 0;

const dismiss = (id: number): void => toasts.set(toasts.get().filter((toast) => toast.id !== id));

/** Shows the outcome of an action: success for eight seconds, failure until it is closed. */
export function showToast(text: string, tone: Tone = 'good'): void {
  const id = (count += 1);
  toasts.set([...toasts.get(), { id, text, tone }]);
  if (tone !== 'bad') setTimeout(() => dismiss(id), SHOWN_MS);
}

/** The place for toasts; once, in the shell. */
export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div className="toasts" role="status">
      {shown.map(({ id, text, tone }) => (
        <div key={id} className={`notice ${tone}`}>
          <span>{text}</span>
          <button type="button" aria-label="Close this message" onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
