import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import { useAccountShown } from '../../app/account.js';
import { faultsOf, type Schemas, sentenceOf } from '../../app/api.js';
import { Problem } from '../../app/problem.js';
import { useMayChange } from '../../app/session.js';
import { Dialog } from '../../components/dialog.js';
import { Field } from '../../components/field.js';
import { erasureQuery, useCount, useErase, useReloadErased } from './erase.queries.js';

const LABELS = { contains: 'Text' };

/** A button that erases a text from the events of one account. */
export function Erase() {
  const { isOwn, accountId } = useAccountShown();
  const mayChange = useMayChange();
  const [isOpen, setIsOpen] = useState(false);
  // Not of all accounts at once, which an operator would do by the command line.
  if (!mayChange || (!isOwn && accountId === undefined)) return null;
  return (
    <>
      <button type="button" onClick={() => setIsOpen(true)}>
        Erase a text
      </button>
      {isOpen && <EraseDialog accountId={accountId} onClose={() => setIsOpen(false)} />}
    </>
  );
}

function EraseDialog({
  accountId,
  onClose,
}: {
  accountId: string | undefined;
  onClose: () => void;
}) {
  const erase = useErase();
  return (
    <Dialog label="Erase a text" onClose={onClose}>
      <h2 className="title">Erase a text</h2>
      {erase.data === undefined ? (
        <Request accountId={accountId} erase={erase} onClose={onClose} />
      ) : (
        <Progress id={erase.data} onClose={onClose} />
      )}
    </Dialog>
  );
}

function Request({
  accountId,
  erase,
  onClose,
}: {
  accountId: string | undefined;
  erase: ReturnType<typeof useErase>;
  onClose: () => void;
}) {
  const [contains, setContains] = useState('');
  const count = useCount();
  const error = count.error ?? erase.error;
  const faults = faultsOf(error, LABELS);
  const isFound = count.data !== undefined && count.data.events + count.data.producerIds > 0;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        count.mutate({ contains, accountId });
      }}
    >
      <Field
        label={LABELS.contains}
        hint="Such as a telephone number, exactly as it is in the events. It is case-sensitive."
        error={faults['contains']}
      >
        <input
          value={contains}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => {
            setContains(target.value);
            count.reset();
          }}
        />
      </Field>
      <p role="status">{count.data && countSentence(count.data)}</p>
      {error && Object.keys(faults).length === 0 && (
        <p className="problem" role="alert">
          {sentenceOf(error)}
        </p>
      )}
      <p className="quiet">
        Erases the data of these events, the stored answers to them and these producers’ ids, and
        cancels deliveries that wait. This cannot be undone.
      </p>
      <div className="tools">
        {isFound ? (
          <button
            type="button"
            className="primary"
            disabled={erase.isPending}
            onClick={() => erase.mutate({ contains, accountId })}
          >
            Erase
          </button>
        ) : (
          <button type="submit" className="primary" disabled={count.isPending}>
            Count
          </button>
        )}
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  );
}

function Progress({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, error } = useQuery(erasureQuery(id));
  const isDone = data?.state === 'completed';
  const reload = useEffectEvent(useReloadErased());
  useEffect(() => {
    if (isDone) reload();
  }, [isDone]);
  return (
    <>
      <p role="status">{data && progressSentence(data)}</p>
      <Problem error={error} />
      {data && !isDone && <p className="quiet">It continues when you close this dialog.</p>}
      <div className="tools">
        <button type="button" autoFocus onClick={onClose}>
          Close
        </button>
      </div>
    </>
  );
}

function countSentence({ events, producerIds }: Schemas['ErasureCount']): string {
  if (events + producerIds === 0) return 'Nothing contains this text.';
  return `The text is in the data of ${counted(events, 'event')} and in ${counted(producerIds, 'producer’s id')}.`;
}

function progressSentence({ state, events, producerIds, deliveries }: Schemas['Erasure']): string {
  const done = `${counted(events, 'event')}, ${counted(producerIds, 'producer’s id')}, ${counted(deliveries, 'delivery')} cancelled`;
  return state === 'completed' ? `It is erased: ${done}.` : `Erasing. So far: ${done}.`;
}

const PLURALS = { event: 'events', 'producer’s id': 'producers’ ids', delivery: 'deliveries' };

function counted(count: number, what: keyof typeof PLURALS): string {
  return `${count.toLocaleString('en')} ${count === 1 ? what : PLURALS[what]}`;
}
