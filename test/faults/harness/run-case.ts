import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#tools/eventually';
import type { FaultCase } from './fault-case.js';
import { Installation } from './installation.js';
import { type Outcome, outcomeOf, outcomeOfNone } from './outcome.js';
import type { Random } from './random.js';
import type { Template } from './template.js';
import type { Topology } from './topology.js';

const USUAL_RATE = 40;
const QUIET_WITHIN_MS = 120_000;
/** Duplicates of the last deliveries arrive within this time. */
const AFTERMATH_MS = 1_500;

/** Runs a case on its own installation, `rounds` times in a row. */
export async function runCase(
  faultCase: FaultCase,
  at: { dir: string; template: Template; random: Random; rounds: number; topology?: Topology },
): Promise<Outcome> {
  const dir = join(at.dir, faultCase.name);
  const installation = await Installation.start(dir, at.template, faultCase.setup, at.topology);
  try {
    const failed: string[] = [];
    const fail = (error: unknown) =>
      void failed.push(error instanceof Error ? error.message : String(error));
    let recoveryMs = 0;
    for (let round = 1; round <= at.rounds; round += 1) {
      installation.producer.start(faultCase.rate ?? USUAL_RATE);
      await sleep(at.random.between(1_500, 3_000));
      await faultCase.harm(installation, at.random).catch(fail);
      const start = performance.now();
      await installation.producer.finish();
      await quiet(installation).catch(fail);
      recoveryMs = Math.max(recoveryMs, performance.now() - start);
    }
    await sleep(AFTERMATH_MS);
    await Promise.all(installation.followers.map((follower) => follower.finish()));
    const outcome = await outcomeOf(faultCase, installation, recoveryMs / 1_000).catch(
      (error: unknown) => outcomeOfNone(faultCase.name, error),
    );
    outcome.broken.push(...failed);
    return outcome;
  } finally {
    await installation.end();
    faultCase.cleanUp?.(dir);
    await rm(dir, { recursive: true, force: true });
  }
}

/** Waits until nothing is left to do. @throws Error if that takes too long */
async function quiet(installation: Installation): Promise<void> {
  await eventually(
    () => installation.unfinished(),
    (count) => count === 0,
    { ms: QUIET_WITHIN_MS, everyMs: 100, what: 'everything is finished' },
  );
}
