import { Store } from './store.js';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'switchhook.theme';

const isTheme = (value: string | null): value is Theme => THEMES.includes(value as Theme);

const stored = localStorage.getItem(KEY);

/** The theme chosen in this browser; `system` by default. */
export const theme = new Store<Theme>(isTheme(stored) ? stored : 'system');

function show(): void {
  const chosen = theme.get();
  if (chosen === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = chosen;
}

show();
theme.follow(() => {
  localStorage.setItem(KEY, theme.get());
  show();
});
