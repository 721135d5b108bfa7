import { useQuery } from '@tanstack/react-query';
import { Eye, EyeOff, RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { sentenceOf } from '../../app/api.js';
import { Confirm } from '../../components/confirm.js';
import { CopyButton } from '../../components/copy-button.js';
import { Notice } from '../../components/notice.js';
import { LocalTime, useNow } from '../../components/time.js';
import { showToast } from '../../components/toast.js';
import { countdownText, overlapOf } from './overlap.js';
import { keyOf, replacedKeysQuery, type Subscription, useRotate } from './subscription.queries.js';

/** The key that verifies notifications: the secret on request, or the public key. */
export function SecretSection({ subscription }: { subscription: Subscription }) {
  const { id, publicKey } = subscription;
  const [secret, setSecret] = useState<string>();
  const [isRotating, setIsRotating] = useState(false);
  const rotate = useRotate(id);
  const what = publicKey === undefined ? 'secret' : 'key';

  async function reveal(): Promise<void> {
    try {
      setSecret((await keyOf(id)).secret);
    } catch (error) {
      showToast(sentenceOf(error), 'bad');
    }
  }

  function confirmed(): void {
    rotate.mutate(undefined, {
      onSuccess: (made) => {
        setSecret(made.secret);
        setIsRotating(false);
        showToast(`The ${what} is replaced. Both are valid for 24 hours.`);
      },
    });
  }

  // After a change of the signature, a revealed secret is outdated.
  const key = publicKey ?? secret;
  return (
    <section className="card secret" aria-labelledby="secret">
      <div className="inside">
        <h2 id="secret" className="hidden">
          {publicKey === undefined ? 'Signing secret' : 'Public key'}
        </h2>
        <p>Your server verifies the signature of each notification with this {what}.</p>
        <p className="key">
          <code>{key ?? 'whsec_••••••••••••••••'}</code>
        </p>
        <div className="tools">
          {publicKey === undefined && secret === undefined && (
            <button type="button" onClick={() => void reveal()}>
              <Eye size={15} aria-hidden /> Reveal
            </button>
          )}
          {publicKey === undefined && secret !== undefined && (
            <button type="button" onClick={() => setSecret(undefined)}>
              <EyeOff size={15} aria-hidden /> Hide
            </button>
          )}
          {key !== undefined && <CopyButton label={`Copy the ${what}`} text={key} />}
          <button type="button" onClick={() => setIsRotating(true)}>
            <RefreshCw size={15} aria-hidden /> Replace the {what}
          </button>
        </div>
        <OldKeys id={id} what={what} />
      </div>
      {isRotating && (
        <Confirm
          label={`Replace the ${what}?`}
          action="Replace"
          isBusy={rotate.isPending}
          error={rotate.error ? sentenceOf(rotate.error) : undefined}
          onConfirm={confirmed}
          onClose={() => setIsRotating(false)}
        >
          <p>
            For 24 hours, every notification is signed with both the old and the new {what}. Give
            your server the new one within that time.
          </p>
        </Confirm>
      )}
    </section>
  );
}

/** The old keys that still sign, and until when. */
function OldKeys({ id, what }: { id: string; what: string }) {
  const { data: replacedAt = [] } = useQuery(replacedKeysQuery(id));
  const left = useNow((now) => {
    const overlap = overlapOf(replacedAt, now);
    return overlap && countdownText(overlap.until - now);
  });
  const overlap = overlapOf(replacedAt, Date.now());
  if (!overlap || left === undefined) return null;
  return (
    <Notice tone="waiting">
      <p>
        {overlap.count === 1
          ? `Both ${what}s are valid for another`
          : `The new ${what} and the newest of ${overlap.count} old ones are valid for another`}{' '}
        <span className="countdown" role="timer">
          {left}
        </span>
        , until <LocalTime at={new Date(overlap.until).toISOString()} />. Your server can verify
        with either.
      </p>
    </Notice>
  );
}
