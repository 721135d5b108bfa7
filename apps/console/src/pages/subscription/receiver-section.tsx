import { CopyButton } from '../../components/copy-button.js';
import { Tabs } from '../../components/tabs.js';
import type { Signature, Snippet } from './snippets/snippet.js';
import { SNIPPETS } from './snippets/snippets.js';

const VARIABLES: Record<Signature, string> = {
  'hmac-sha256': 'WEBHOOK_SECRET=whsec_…',
  ed25519: 'WEBHOOK_PUBLIC_KEY=whpk_…',
};

/** A program that verifies notifications, in a choice of languages. */
export function ReceiverSection({ signature }: { signature: Signature }) {
  return (
    <section className="card" aria-labelledby="receiver">
      <div className="inside">
        <h2 id="receiver" className="hidden">
          Receiver code
        </h2>
        <p>
          A complete program that verifies <code>webhook-id</code>, <code>webhook-timestamp</code>{' '}
          and <code>webhook-signature</code>, and answers genuine notifications with 204. Verify the
          body exactly as it arrived, before you parse it.
        </p>
        <Tabs
          label="Language"
          tabs={SNIPPETS.map((snippet) => ({
            name: snippet.language,
            content: <Program snippet={snippet} signature={signature} />,
          }))}
        />
      </div>
    </section>
  );
}

function Program({
  snippet: { language, run, needs, code },
  signature,
}: {
  snippet: Snippet;
  signature: Signature;
}) {
  const text = code[signature];
  return (
    <>
      <div className="tools">
        <span>
          Run it with your key:{' '}
          <code>
            {VARIABLES[signature]} {run}
          </code>
          {needs[signature] !== undefined && <>, after {needs[signature]}</>}
        </span>
        <CopyButton label="Copy the program" text={text} />
      </div>
      <pre className="program" role="region" tabIndex={0} aria-label={`A receiver in ${language}`}>
        {text}
      </pre>
    </>
  );
}
