import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultCase } from '../harness/fault-case.js';
import type { Installation } from '../harness/installation.js';
import type { Random } from '../harness/random.js';
import type { ServiceProcess } from '../../support/service-process.js';

const KILLS = 4;

/** Kills processes repeatedly, and waits each time until the supervisor has restarted them. */
function killing(
  victims: (installation: Installation, random: Random) => readonly ServiceProcess[],
  kills = KILLS,
) {
  return async (installation: Installation, random: Random): Promise<void> => {
    for (let kill = 0; kill < kills; kill += 1) {
      await installation.killAndRestart(victims(installation, random), random.between(0, 1_500));
      await sleep(random.between(500, 1_500));
    }
  };
}

export const workerKilled: FaultCase = {
  name: 'worker-killed',
  about: 'kill -9 of a worker, again and again',
  producersNotice: 'nothing',
  duplicates: 'explained',
  harm: killing(({ workers }, random) => [random.oneOf(workers)]),
};

export const apiKilled: FaultCase = {
  name: 'api-killed',
  about: 'kill -9 of an API, again and again',
  producersNotice: 'unanswered',
  duplicates: 'none',
  harm: killing(({ apis }, random) => [random.oneOf(apis)]),
};

export const killingAll = (kills: number): FaultCase => ({
  name: 'all-killed',
  about: 'kill -9 of every API and worker at the same moment, again and again',
  producersNotice: 'unanswered',
  duplicates: 'explained',
  harm: killing(({ processes }) => processes, kills),
});
export const allKilled = killingAll(KILLS);

/** Kills at the last moment at which only the receiver knows of a success. */
export const killingBeforeRecord = (kills: number): FaultCase => ({
  name: 'killed-before-record',
  about: "kill -9 of the workers between a receiver's 200 and our record of it",
  producersNotice: 'nothing',
  duplicates: 'explained',
  harm: async (installation, random) => {
    const { receiver, workers } = installation;
    for (let kill = 0; kill < kills; kill += 1) {
      const usual = receiver.answering;
      const answered = new Promise<void>((resolve) => {
        receiver.answering = (arrival, response) => {
          receiver.answering = usual;
          response.writeHead(200).end(() => {
            arrival.confirmedAt = Date.now();
            // Not even one turn of the event loop later: recording takes a worker only a few milliseconds.
            for (const worker of workers) void worker.kill();
            resolve();
          });
        };
      });
      await answered;
      await installation.killAndRestart(workers, random.between(0, 1_000));
      await sleep(random.between(500, 1_500));
    }
  },
  check: ({ receiver }) => {
    const repeated = [...receiver.confirmed().values()].filter((one) => one.length > 1).length;
    return Promise.resolve(repeated > 0 ? [] : ['no kill was in time']);
  },
});
export const killedBeforeRecord = killingBeforeRecord(KILLS);
