import './keys.css';
import { Fragment } from 'react';
import { Dialog } from '../components/dialog.js';
import { usePageKeys } from '../components/page-keys.js';
import { openPalette } from './palette.js';
import { Store, useStore } from './store.js';

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

const isOpen = new Store(false);

export const openKeys = (): void => isOpen.set(true);

/** The keys that work on every page, and the sheet that names all. */
export function Keys() {
  const isShown = useStore(isOpen);
  usePageKeys((key) => {
    if (key === '?') openKeys();
    else if (key === '/') search();
    else return false;
    return true;
  });
  if (!isShown) return null;
  const close = (): void => isOpen.set(false);
  return (
    <Dialog label="Keys" onClose={close}>
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
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

/** Goes to the search field of the page's list. The palette searches pages without one. */
function search(): void {
  const field = document.querySelector<HTMLElement>('main .search-field input');
  if (field) field.focus();
  else openPalette();
}
