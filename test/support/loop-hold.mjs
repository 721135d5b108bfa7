// Measures for how long the event loop stands still, for `npm run test:hostile`: Node.js loads this file before a process
// under test. On SIGWINCH, it writes the longest time since the last one, in ms, to the file LOOP_HOLD.
import { writeFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';

const TICK_MS = 1;
/** Times without garbage collection, which no work can interrupt. @type {{ start: number, end: number, ms: number }[]} */
let holds = [];
let start = performance.now();
let cpu = process.cpuUsage();

/** Waiting for a processor is not holding the loop. */
function tick() {
  const end = performance.now();
  const { user, system } = process.cpuUsage(cpu);
  const ms = Math.min(end - start - TICK_MS, (user + system) / 1_000);
  if (ms > TICK_MS) holds.push({ start, end, ms });
  start = end;
  cpu = process.cpuUsage();
  setTimeout(tick, TICK_MS).unref();
}
tick();

new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) {
    const hold = holds.find((one) => startTime >= one.start && startTime <= one.end);
    if (hold) hold.ms -= duration;
  }
}).observe({ type: 'gc' });

process.on('SIGWINCH', () => {
  // After the observer has seen what came before.
  setTimeout(() => {
    const longest = Math.max(0, ...holds.map(({ ms }) => ms));
    writeFileSync(process.env.LOOP_HOLD ?? '', String(longest));
    holds = [];
  }, 100);
});
