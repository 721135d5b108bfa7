import '../styles/json.css';
import { useMemo, useState } from 'react';
import { CopyButton } from './copy-button.js';
import { formattedJson } from './json-tokens.js';

/** Longer texts are shown as they are. */
const MOST_FORMATTED = 200_000;

/** A text that may be JSON: formatted, or as it was sent. */
export function JsonText({ label, text }: { label: string; text: string }) {
  const [isRaw, setIsRaw] = useState(false);
  const tokens = useMemo(
    () => (text.length > MOST_FORMATTED ? undefined : formattedJson(text)),
    [text],
  );
  return (
    <div className="json">
      <div className="tools">
        {tokens && (
          <div className="segments small" role="group" aria-label="How it is shown">
            <button type="button" aria-pressed={!isRaw} onClick={() => setIsRaw(false)}>
              Formatted
            </button>
            <button type="button" aria-pressed={isRaw} onClick={() => setIsRaw(true)}>
              As sent
            </button>
          </div>
        )}
        <CopyButton label="Copy" text={text} />
      </div>
      <pre tabIndex={0} aria-label={label}>
        {tokens && !isRaw
          ? tokens.map(({ kind, text: piece }, index) =>
              kind === 'blank' || kind === 'mark' ? (
                piece
              ) : (
                <span key={index} className={`json-${kind}`}>
                  {piece}
                </span>
              ),
            )
          : text}
      </pre>
    </div>
  );
}
