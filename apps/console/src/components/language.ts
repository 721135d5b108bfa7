/**
 * Sets a valid language tag before uPlot is loaded, which needs one: with the system locale C, Chromium reports
 * `en-US@posix`.
 */
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  const { locale } = Intl.DateTimeFormat().resolvedOptions();
  Object.defineProperty(navigator, 'language', { value: locale });
}
