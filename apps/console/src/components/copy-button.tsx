import { showToast } from './toast.js';

/** Copies a text. */
export function CopyButton({ label, text }: { label: string; text: string }) {
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      showToast('Copied.');
    } catch {
      showToast('The browser did not allow copying.', 'bad');
    }
  }
  return (
    <button type="button" onClick={() => void copy()}>
      {label}
    </button>
  );
}
