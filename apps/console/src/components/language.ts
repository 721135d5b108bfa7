/**
 * Gives the browser's language a valid tag, which uPlot needs as soon as it is loaded: where the system's locale is C,
 * Chromium's is `en-US@posix`.
 */
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  const { locale } = Intl.DateTimeFormat().resolvedOptions();
  Object.defineProperty(navigator, 'language', { value: locale });
}
