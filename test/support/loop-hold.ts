import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { eventually } from '#tools/eventually';
import type { Environment } from './environment.js';
import type { ServiceProcess } from './service-process.js';

const SCRIPT = new URL('loop-hold.mjs', import.meta.url).href;

/** Measures for how long the event loop of a process stands still. */
export class LoopHold {
  private readonly file = join(tmpdir(), `switchhook-loop-${randomUUID()}`);

  /** The environment in which the process must be started. @param options further ones of Node.js */
  environment(options: string): Environment {
    return { NODE_OPTIONS: `${options} --import=${SCRIPT}`, LOOP_HOLD: this.file };
  }

  /** The longest time since the last call, in ms. */
  async longest(process: ServiceProcess): Promise<number> {
    process.signal('SIGWINCH');
    await eventually(() => existsSync(this.file) && readFileSync(this.file, 'utf8') !== '');
    const longest = Number(readFileSync(this.file, 'utf8'));
    rmSync(this.file);
    return longest;
  }
}
