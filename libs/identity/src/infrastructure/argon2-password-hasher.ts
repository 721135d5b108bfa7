import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { Injectable } from '@nestjs/common';
import { BusyError, FairSemaphore } from '#libs/kernel';
import { PasswordHasher } from '../domain/password-check.js';

/** OWASP's first recommendation for Argon2id in 2023: 19 MiB, two passes, one lane. */
const PARAMETERS = {
  // Without an algorithm, the package computes Argon2id.
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
  outputLen: 32,
};

/** PasswordCheck limits its own waiting checks. New passwords are rare, and wait behind one check. */
const LIMITS = { atOnce: 1, waitingOfOne: 100 };

/** The thread's niceness: if cores are scarce, authenticated requests have priority. */
const NICENESS = 10;

/** Inline, so that no separate file has to be found both in the sources and in the build. */
const THREAD = `
const { getPriority, setPriority } = require('node:os');
const { parentPort, workerData } = require('node:worker_threads');
const { hashRawSync } = require(workerData.argon2);
try {
  // Only Linux has a priority for each thread. Raising it would need privileges.
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
 * Computes Argon2id, one hash at a time, in a thread with a lower priority: each hash occupies a core, and
 * unauthenticated clients can request any number of them.
 */
@Injectable()
export class Argon2PasswordHasher implements PasswordHasher {
  private readonly semaphore = new FairSemaphore(
    LIMITS,
    () => new BusyError('Too many passwords wait to be stored now.'),
  );
  private thread: Worker | undefined;
  private settle: ((hash: Uint8Array | Error) => void) | undefined;

  hash(password: string, salt: Buffer): Promise<Buffer> {
    // Accents can be encoded in two ways (RFC 7617, section 2.1).
    const text = password.normalize('NFC');
    return this.semaphore.run(() => this.compute(text, salt));
  }

  private compute(text: string, salt: Buffer): Promise<Buffer> {
    const thread = (this.thread ??= this.start());
    return new Promise((resolve, reject) => {
      thread.ref();
      const settle = (hash: Uint8Array | Error): void => {
        thread.unref();
        this.settle = undefined;
        if (hash instanceof Error) reject(hash);
        else resolve(Buffer.from(hash));
      };
      this.settle = settle;
      // Not pooled, because the whole pool would be transferred to the thread.
      const password = new TextEncoder().encode(text);
      thread.postMessage({ password, salt: new Uint8Array(salt) }, [password.buffer]);
    });
  }

  /** If the thread ends, the current computation fails and the next one starts a new thread. */
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
        failure instanceof Error ? failure : new Error('the password hashing thread ended'),
      );
    });
    return thread;
  }
}
