import { Problem } from '../../app/problem.js';
import { JsonText } from '../../components/json-text.js';

const MISSING = {
  deleted: 'The subscription was deleted',
  'not yours': 'The subscription belongs to another account',
} as const;

/** The body that is signed and sent, byte for byte. */
export function SignedBody({
  body,
  error,
  missing,
  isNewer,
}: {
  body: string | undefined;
  error: Error | null;
  /** Why the subscription's part is missing, if it is. */
  missing: keyof typeof MISSING | false;
  /** Whether the subscription was changed after the last attempt. */
  isNewer: boolean;
}) {
  return (
    <>
      <Problem error={error} />
      {missing && (
        <p>
          {MISSING[missing]}, so its name and its payload, which may have been sent, are missing
          here.
        </p>
      )}
      {isNewer && (
        <p>
          The subscription was changed after the last attempt. If that changed its name or its
          payload, earlier attempts had the old ones.
        </p>
      )}
      {body !== undefined && <JsonText label="Signed body" text={body} />}
    </>
  );
}
