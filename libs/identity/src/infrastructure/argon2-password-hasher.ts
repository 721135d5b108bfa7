import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { Injectable } from '@nestjs/common';
import { BusyError, FairSemaphore } from '#libs/kernel';
import { PasswordHasher } from '../domain/password-hasher.js';

/** OWASP's first choice of 2023 for Argon2id: 19 MiB, two passes, one lane. */
const PARAMETERS = {
  // The algorithm is left out: Argon2id is what the package computes unless it is told otherwise.
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
  outputLen: 32,
};

/** Callers bound themselves how many checks wait; new passwords are few, and wait behind one check. */
const LIMITS = { atOnce: 1, waitingOfOne: 100 };

/** Of the thread: whoever has been let in comes first, where cores are scarce. */
const NICENESS = 10;

/** A text, so that there is no file to be found beside both the sources and what is built of them. */
const THREAD = `
const { getPriority, setPriority } = require('node:os');
const { parentPort, workerData } = require('node:worker_threads');
const { hashRawSync } = require(workerData.argon2);
try {
  // Elsewhere threads have no priority of their own; nobody may raise it.
  if (process.platform === 'linux' && getPriority() < workerData.niceness) {
    setPriority(workerData.niceness);
  }
} catch {}
parentPort.on('message', ({ password, salt }) => {
  try {
    parentPort.postMessage(hashRawSync(password, { ...workerData.parameters, salt: Buffer.from(salt) }));
  } finally {
    password.fill(0);
  }
});
`;

/**
 * Argon2id, one computation at a time: it takes a core. In a thread of its own, with a lower priority than
 * the others, since strangers can have as many passwords checked as they like.
 */
@Injectable()
export class Argon2PasswordHasher extends PasswordHasher {
  private readonly semaphore = new FairSemaphore(
    LIMITS,
    () => new BusyError('Too many passwords wait to be stored now.'),
  );
  private thread: Worker | undefined;
  private settle: ((hash: Uint8Array | Error) => void) | undefined;

  override hash(password: string, salt: Buffer): Promise<Buffer> {
    // One password, however its accents were typed (RFC 7617, section 2.1).
    const text = password.normalize('NFC');
    return this.semaphore.run(() => this.compute(text, salt));
  }

  private compute(text: string, salt: Buffer): Promise<Buffer> {
    const thread = (this.thread ??= this.start());
    return new Promise((resolve, reject) => {
      thread.ref();
      this.settle = (hash) => {
        thread.unref();
        this.settle = undefined;
        if (hash instanceof Error) reject(hash);
        else resolve(Buffer.from(hash));
      };
      // Bytes of their own: of a pool, all that is in it would go to the thread.
      const password = new TextEncoder().encode(text);
      thread.postMessage({ password, salt: new Uint8Array(salt) }, [password.buffer]);
    });
  }

  /** A thread that ends takes the computation under way with it; the next one gets a new thread. */
  private start(): Worker {
    const argon2 = createRequire(import.meta.url).resolve('@node-rs/argon2');
    const workerData = { argon2, parameters: PARAMETERS, niceness: NICENESS };
    const thread = new Worker(THREAD, { eval: true, workerData, env: {}, execArgv: [] });
    let failure: unknown;
    thread.on('message', (hash: Uint8Array) => this.settle?.(hash));
    thread.on('error', (error) => (failure = error));
    thread.on('exit', () => {
      this.thread = undefined;
      this.settle?.(
        failure instanceof Error ? failure : new Error('the thread of passwords ended'),
      );
    });
    return thread;
  }
}
