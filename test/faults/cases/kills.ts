import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultCase } from '../harness/fault-case.js';
import type { Installation } from '../harness/installation.js';
import type { Random } from '../harness/random.js';
import type { ServiceProcess } from '../../support/service-process.js';

const KILLS = 4;

/** Kills processes repeatedly. Each time, waits until the supervisor has restarted them. */
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
  about: 'kill -9 of a worker, repeatedly',
  producersNotice: 'nothing',
  duplicates: 'explained',
  harm: killing(({ workers }, random) => [random.oneOf(workers)]),
};

export const apiKilled: FaultCase = {
  name: 'api-killed',
  about: 'kill -9 of an API, repeatedly',
  producersNotice: 'unanswered',
  duplicates: 'none',
  harm: killing(({ apis }, random) => [random.oneOf(apis)]),
};

export const killingAll = (kills: number): FaultCase => ({
  name: 'all-killed',
  about: 'kill -9 of every API and worker at the same moment, repeatedly',
  producersNotice: 'unanswered',
  duplicates: 'explained',
  harm: killing(({ processes }) => processes, kills),
});
export const allKilled = killingAll(KILLS);

/** Kills the workers while only the receiver knows of a success. */
export const killingBeforeRecord = (kills: number): FaultCase => ({
  name: 'killed-before-record',
  about: 'kill -9 of the workers after a receiver answers 200 and before a worker records it',
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
            // At once, without a turn of the event loop: a worker records within a few milliseconds.
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
    return Promise.resolve(repeated > 0 ? [] : ['every kill came too late']);
  },
});
export const killedBeforeRecord = killingBeforeRecord(KILLS);
