/** The API notes when a session was used to the minute, too. */
const RECENT_MS = 60_000;
const INPUTS = ['pointerdown', 'pointermove', 'wheel', 'keydown'] as const;

// Somebody has just opened the page.
let lastInputAt = Date.now();

for (const input of INPUTS) {
  const note = () => {
    lastInputAt = Date.now();
  };
  window.addEventListener(input, note, { capture: true, passive: true });
}

/** Whether somebody uses the page, as far as it can tell. */
export function isAttended(): boolean {
  return Date.now() - lastInputAt < RECENT_MS;
}
