import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

/** A listener that accepts nothing at first: its queue is full, so the kernel drops connection requests. */
export interface SlowListener {
  port: number;
  /** Answers everything from now on. A client repeats its connection request after one, three and seven seconds. */
  accept: () => void;
  /** The number of answered requests. */
  answered: () => number;
  close: () => Promise<void>;
}

const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const state = new Int32Array(workerData.state);
const server = require('node:http').createServer((_, response) => {
  Atomics.add(state, 1, 1);
  response.end('slow');
});
server.listen({ host: workerData.address, port: workerData.port, backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  // A blocked event loop accepts nothing.
  Atomics.wait(state, 0, 0);
});`;

/**
 * @param address 0.0.0.0 for all of 127.0.0.0/8
 */
export async function startSlowListener(address: string, port = 0): Promise<SlowListener> {
  const memory = new SharedArrayBuffer(8);
  const state = new Int32Array(memory);
  const thread = new Worker(THREAD, { eval: true, workerData: { state: memory, address, port } });
  const [taken] = (await once(thread, 'message')) as [number];
  const fillers: Socket[] = [];
  // Connects until the queue is full.
  for (let isFull = false; !isFull;) {
    const filler = connect({ host: address === '0.0.0.0' ? '127.0.0.1' : address, port: taken });
    filler.on('error', () => undefined);
    fillers.push(filler);
    isFull = await Promise.race([
      once(filler, 'connect').then(() => false),
      new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 300)),
    ]);
  }
  fillers.pop()!.destroy();
  return {
    port: taken,
    accept: () => {
      Atomics.store(state, 0, 1);
      Atomics.notify(state, 0);
    },
    answered: () => Atomics.load(state, 1),
    close: async () => {
      for (const filler of fillers) filler.destroy();
      await thread.terminate();
    },
  };
}
