import { lazy, Suspense } from 'react';
import { usePageKeys } from '../components/page-keys.js';
import { openPalette } from './commands.js';
import { Store, useStore } from './store.js';

const KeySheet = lazy(() => import('./key-sheet.js'));

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
  return (
    <Suspense>
      <KeySheet onClose={() => isOpen.set(false)} />
    </Suspense>
  );
}

/** Goes to the search field of the page's list. The palette searches pages without one. */
function search(): void {
  const field = document.querySelector<HTMLElement>('main .search-field input');
  if (field) field.focus();
  else openPalette();
}
