import { useState } from 'react';
import { CopyButton } from '../../components/copy-button.js';
import { Field } from '../../components/field.js';
import type { Signature } from './snippets/snippet.js';
import { SNIPPETS } from './snippets/snippets.js';

const VARIABLES: Record<Signature, string> = {
  'hmac-sha256': 'WEBHOOK_SECRET=whsec_…',
  ed25519: 'WEBHOOK_PUBLIC_KEY=whpk_…',
};

/** A program in a language of one's choice that verifies notifications. */
export function ReceiverSection({ signature }: { signature: Signature }) {
  const [language, setLanguage] = useState(SNIPPETS[0].language);
  const { run, needs, code } = SNIPPETS.find((one) => one.language === language) ?? SNIPPETS[0];
  const text = code[signature];
  return (
    <section className="snippet" aria-labelledby="receiver">
      <h2 id="receiver">Receive notifications</h2>
      <p>
        A complete program that verifies the headers <code>webhook-id</code>,{' '}
        <code>webhook-timestamp</code> and <code>webhook-signature</code>, and answers 204 to a
        genuine notification. Verify the bytes of the body as they came in, before anything parses
        them.
      </p>
      <Field label="Language">
        <select value={language} onChange={({ target }) => setLanguage(target.value)}>
          {SNIPPETS.map((one) => (
            <option key={one.language}>{one.language}</option>
          ))}
        </select>
      </Field>
      <pre tabIndex={0} aria-label={`A receiver in ${language}`}>
        {text}
      </pre>
      <div className="tools">
        <CopyButton label="Copy the program" text={text} />
      </div>
      <p>
        Start it, with your key in the environment:{' '}
        <code>
          {VARIABLES[signature]} {run}
        </code>
        {needs[signature] !== undefined && <> (it needs {needs[signature]})</>}
      </p>
    </section>
  );
}
