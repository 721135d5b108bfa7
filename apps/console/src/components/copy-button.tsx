import { showToast } from './toast.js';

/** Copies a text, and confirms it. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast('Copied.');
  } catch {
    showToast('The browser did not allow copying.', 'bad');
  }
}

export function CopyButton({ label, text }: { label: string; text: string }) {
  return (
    <button type="button" onClick={() => void copyText(text)}>
      {label}
    </button>
  );
}
