/** The theme that was chosen in the console of this browser, if any. Without scripts, the system's is shown. */
const chosen = localStorage.getItem('switchhook.theme');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
