/** Applies the theme that was chosen in this browser's console, if any. Without scripts, the system's theme applies. */
const chosen = localStorage.getItem('switchhook.theme');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
