import '../styles/json.css';
import { useMemo, useState } from 'react';
import { CopyButton } from './copy-button.js';
import { htmlText } from './html-text.js';
import { jsonTree } from './json-tree.js';
import { JsonView } from './json-view.js';

/** Longer texts are shown unformatted. */
const MOST_READ = 200_000;

/** A text from outside: JSON is formatted, and HTML is reduced to its text. Both can be shown as sent. */
export function JsonText({ label, text }: { label: string; text: string }) {
  const [isRaw, setIsRaw] = useState(false);
  const [root, words] = useMemo(
    () => (text.length > MOST_READ ? [] : [jsonTree(text), htmlText(text)]),
    [text],
  );
  const better = root ? 'Formatted' : words && 'Text';
  return (
    <div className="json">
      <div className="tools">
        {better && (
          <div className="segments small" role="group" aria-label="How it is shown">
            <button type="button" aria-pressed={!isRaw} onClick={() => setIsRaw(false)}>
              {better}
            </button>
            <button type="button" aria-pressed={isRaw} onClick={() => setIsRaw(true)}>
              As sent
            </button>
          </div>
        )}
        <CopyButton label="Copy" text={text} />
      </div>
      {root && !isRaw ? (
        <JsonView key={text} label={label} text={text} root={root} />
      ) : (
        <pre tabIndex={0} aria-label={label}>
          {isRaw ? text : (words ?? text)}
        </pre>
      )}
    </div>
  );
}
