import './keys.css';
import { Fragment } from 'react';
import { Dialog } from '../components/dialog.js';

/** All keys, with what they do. */
const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['Ctrl K'], 'Find a page, an action, a name or an id'],
  [['/'], 'Search the list'],
  [['j', 'k'], 'Next and previous row'],
  [['Home', 'End'], 'First and last row'],
  [['Enter'], 'Open the row'],
  [['Esc'], 'Close what is open'],
  [['?'], 'Show these keys'],
];

/** The sheet that names all keys. */
export default function KeySheet({ onClose }: { onClose: () => void }) {
  return (
    <Dialog label="Keys" onClose={onClose}>
      <h2>Keys</h2>
      <dl className="key-sheet">
        {KEYS.map(([keys, does]) => (
          <Fragment key={does}>
            <dt>
              {keys.map((key) => (
                <Fragment key={key}>
                  <kbd>{key}</kbd>{' '}
                </Fragment>
              ))}
            </dt>
            <dd>{does}</dd>
          </Fragment>
        ))}
      </dl>
      <div className="tools">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
