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
const { setPriority } = require('node:os');
const { parentPort, workerData } = require('node:worker_threads');
const { hashRawSync } = require(workerData.argon2);
// Elsewhere threads have no priority of their own.
if (process.platform === 'linux') setPriority(workerData.niceness);
parentPort.on('message', ({ text, salt }) => {
  const options = { ...workerData.parameters, salt: Buffer.from(salt) };
  parentPort.postMessage(hashRawSync(text, options));
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

  override hash(password: string, salt: Buffer): Promise<Buffer> {
    // One password, however its accents were typed (RFC 7617, section 2.1).
    const text = password.normalize('NFC');
    return this.semaphore.run(() => this.compute(text, salt));
  }

  private compute(text: string, salt: Buffer): Promise<Buffer> {
    const thread = (this.thread ??= start());
    return new Promise((resolve, reject) => {
      const done = (hash?: Uint8Array, error?: Error): void => {
        thread.off('message', done).off('error', fail).unref();
        if (hash) resolve(Buffer.from(hash));
        else reject(error!);
      };
      const fail = (error: Error): void => {
        this.thread = undefined;
        done(undefined, error);
      };
      thread.on('message', done).on('error', fail).ref();
      thread.postMessage({ text, salt });
    });
  }
}

function start(): Worker {
  const argon2 = createRequire(import.meta.url).resolve('@node-rs/argon2');
  const workerData = { argon2, parameters: PARAMETERS, niceness: NICENESS };
  return new Worker(THREAD, { eval: true, workerData });
}
