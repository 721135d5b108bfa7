import { sentenceOf } from '../../app/api.js';
import { CopyButton } from '../../components/copy-button.js';

/** The body that is signed and sent, byte for byte. */
export function SignedBody({
  body,
  error,
  isDeleted,
  isNewer,
}: {
  body: string | undefined;
  error: Error | null;
  /** Whether the subscription was deleted. */
  isDeleted: boolean;
  /** Whether the subscription was changed after the last attempt. */
  isNewer: boolean;
}) {
  return (
    <section aria-labelledby="body">
      <h2 id="body">Signed body</h2>
      {error && <p className="problem">{sentenceOf(error)}</p>}
      {isDeleted && (
        <p>
          The subscription was deleted, so its name and its payload, which may have been sent, are
          missing here.
        </p>
      )}
      {isNewer && (
        <p>
          The subscription was changed after the last attempt. If that changed its name or its
          payload, earlier attempts had the old ones.
        </p>
      )}
      {body !== undefined && (
        <>
          <pre className="body" tabIndex={0} aria-label="Signed body">
            {body}
          </pre>
          <CopyButton label="Copy the body" text={body} />
        </>
      )}
    </section>
  );
}
