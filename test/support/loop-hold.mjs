// Measures for how long the event loop stands still, for `npm run test:hostile`: Node.js loads this file before a process
// under test. On SIGWINCH, it divides the time since the last SIGWINCH into thirds or, if these are longer, parts of ten
// seconds, and writes to the file LOOP_HOLD the shortest of their longest holds, in ms. An attack lasts until its
// last answer, and holds the loop in each part. A virtual machine pauses now and then.
import { readFileSync, writeFileSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';

const TICK_MS = 1;
const LEAST_PARTS = 3;
const PART_MS = 10_000;
/** @type {{ start: number, end: number, ms: number }[]} */
let holds = [];
/** @type {{ startTime: number, duration: number }[]} */
let collections = [];
let begun = performance.now();
let start = begun;
let thread = threadMs();
let use = performance.eventLoopUtilization();

/** How long the thread of the event loop has run, and waited for a processor, which is not holding the loop, in ms. */
function threadMs() {
  const [ran, waited] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return { ran: Number(ran) / 1e6, waited: Number(waited) / 1e6 };
}

function tick() {
  const end = performance.now();
  const before = thread;
  thread = threadMs();
  const notWaiting = end - start - TICK_MS - (thread.waited - before.waited);
  // A virtual machine may wait, too: then nothing runs, and an idle loop is late.
  const { active } = performance.eventLoopUtilization(use);
  const ms = Math.min(notWaiting, thread.ran - before.ran, active);
  if (ms > TICK_MS) holds.push({ start, end, ms });
  start = end;
  use = performance.eventLoopUtilization();
  setTimeout(tick, TICK_MS).unref();
}
tick();

new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries())
    collections.push({ startTime, duration });
}).observe({ type: 'gc' });

/** Garbage is collected without a pause, whoever made it. @param {{ start: number, end: number, ms: number }} hold */
function withoutCollections({ start, end, ms }) {
  const within = collections.filter(({ startTime }) => startTime >= start && startTime <= end);
  return within.reduce((left, { duration }) => left - duration, ms);
}

/** @param {number} part @param {number} parts */
function longestIn(part, parts) {
  const length = (start - begun) / parts;
  const from = begun + part * length;
  const within = holds.filter((hold) => hold.end > from && hold.end <= from + length);
  return Math.max(0, ...within.map(withoutCollections));
}

process.on('SIGWINCH', () => {
  // After the observer has seen what came before.
  setTimeout(() => {
    const parts = Math.max(LEAST_PARTS, Math.floor((start - begun) / PART_MS));
    const longest = Array.from({ length: parts }, (_, part) => longestIn(part, parts));
    writeFileSync(process.env.LOOP_HOLD ?? '', String(Math.min(...longest)));
    holds = [];
    collections = [];
    begun = performance.now();
  }, 100);
});
