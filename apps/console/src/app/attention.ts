/** The API, too, notes to the minute when a session was last used. */
const RECENT_MS = 60_000;
const INPUTS = ['pointerdown', 'pointermove', 'wheel', 'keydown'] as const;

// Opening the page counts as input.
let lastInputAt = Date.now();

for (const input of INPUTS) {
  const note = () => {
    lastInputAt = Date.now();
  };
  window.addEventListener(input, note, { capture: true, passive: true });
}

/** Whether somebody used the page within the last minute. */
export function isAttended(): boolean {
  return Date.now() - lastInputAt < RECENT_MS;
}
