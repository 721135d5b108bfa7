import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { eventually } from '#tools/eventually';
import type { FaultCase } from '../harness/fault-case.js';
import type { Installation } from '../harness/installation.js';
import { confirm } from '../harness/receiver.js';
import type { Postgres } from '../../support/stores.js';

/** The number of deliveries to lock from each end. */
const CROSSED = 3;
const AWAY_MS = 60_000;
/** The number of connections to open at once. */
const CROWD = 60;
const CROWDED_MS = 10_000;
const FULL_MS = 10_000;
/** PostgreSQL's data takes about 60 MB at first. */
const DISK = '160m';

/** The API must have told producers to retry. */
function wasUnavailable({ producer }: Installation): Promise<string[]> {
  return Promise.resolve(
    producer.failures.unavailable > 0 ? [] : ['no request was answered with 503'],
  );
}

export const postgresRestarted: FaultCase = {
  name: 'postgres-restarted',
  about: 'PostgreSQL: restarted twice',
  producersNotice: 'unavailable',
  duplicates: 'explained',
  harm: async (installation, random) => {
    const { postgres } = installation;
    for (let restart = 0; restart < 2; restart += 1) {
      await installation.harming('cut off', 'all', async () => {
        await postgres.stop();
        await postgres.start();
      });
      await sleep(random.between(1_000, 3_000));
    }
  },
};

export const postgresKilled: FaultCase = {
  name: 'postgres-killed',
  about: 'PostgreSQL: kill -9 of the server and all its processes, twice',
  producersNotice: 'unavailable',
  duplicates: 'explained',
  harm: async (installation, random) => {
    const { postgres } = installation;
    for (let kill = 0; kill < 2; kill += 1) {
      await installation.harming('cut off', 'all', async () => {
        await postgres.kill();
        await sleep(random.between(0, 3_000));
        await postgres.start();
      });
      await sleep(random.between(1_000, 3_000));
    }
  },
};

export const postgresAway: FaultCase = {
  name: 'postgres-away',
  about: 'PostgreSQL: down for a minute, during which producers get 503 with Retry-After',
  rate: 25,
  producersNotice: 'unavailable',
  duplicates: 'explained',
  harm: async (installation) => {
    const { postgres } = installation;
    await installation.harming('cut off', 'all', async () => {
      await postgres.stop();
      await sleep(AWAY_MS);
      await postgres.start();
    });
  },
  check: wasUnavailable,
};

export const postgresCrowded: FaultCase = {
  name: 'postgres-crowded',
  about: "PostgreSQL: out of connections, and the service's own are terminated",
  producersNotice: 'unavailable',
  duplicates: 'explained',
  harm: async (installation) => {
    await installation.harming('cut off', 'all', async () => {
      const crowd: pg.Client[] = [];
      const end = Date.now() + CROWDED_MS;
      while (Date.now() < end) {
        await crowdOut(installation, crowd);
        await sleep(50);
      }
      await Promise.all(crowd.map((client) => client.end()));
    });
  },
  check: wasUnavailable,
};

/** Terminates the service's connections, and takes all free ones before the service reconnects. */
async function crowdOut({ postgres }: Installation, crowd: pg.Client[]): Promise<void> {
  const ours = crowd.map((client) => (client as unknown as { processID: number }).processID);
  await crowd[0]?.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE backend_type = 'client backend' AND pid <> ALL ($1)`,
    [ours],
  );
  const come = Array.from({ length: CROWD }, () => postgres.connect().catch(() => undefined));
  crowd.push(...(await Promise.all(come)).filter((client) => client !== undefined));
}

let crossed = false;

export const deadlocks: FaultCase = {
  name: 'postgres-deadlocks',
  about:
    'PostgreSQL: another session locks deliveries in the opposite order; ours never wait for a row, ' +
    'so no transaction is aborted',
  producersNotice: 'nothing',
  duplicates: 'none',
  harm: async ({ postgres, receiver }, random) => {
    const gate: (() => void)[] = [];
    const closeGate = () => {
      receiver.answering = (arrival, response) => void gate.push(() => confirm(arrival, response));
    };
    const openGate = () => {
      receiver.answering = confirm;
      for (const answer of gate.splice(0)) answer();
    };
    try {
      for (let round = 0; round < 5; round += 1) {
        closeGate();
        await sleep(random.between(300, 600));
        await lockCrosswise(postgres, openGate);
      }
    } finally {
      openGate();
    }
  },
  check: ({ postgres }) => {
    const found = postgres.output().split('ERROR:  deadlock detected').length - 1;
    return Promise.resolve([
      ...(crossed ? [] : ['there was nothing to lock']),
      ...(found === 0 ? [] : [`${String(found)} deadlocks were detected`]),
    ]);
  },
};

/** Locks the last deliveries in flight and then, while workers record outcomes, the first. */
async function lockCrosswise(postgres: Postgres, openGate: () => void): Promise<void> {
  const client = await postgres.connect();
  try {
    const lock = 'SELECT FROM deliveries WHERE id = ANY ($1) FOR UPDATE';
    const { rows } = await client.query<{ id: string }>(
      `SELECT id FROM deliveries WHERE state = 'pending' AND claimed_until > now() ORDER BY id`,
    );
    const ids = rows.map(({ id }) => id);
    crossed ||= ids.length >= 2 * CROSSED;
    await client.query('BEGIN');
    await client.query(lock, [ids.slice(-CROSSED)]);
    openGate();
    await sleep(300);
    await client.query(lock, [ids.slice(0, CROSSED)]);
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}

/** Puts PostgreSQL's data on a separate file system, and fills it to the last byte. */
export const diskFull: FaultCase = {
  name: 'postgres-disk-full',
  about: 'PostgreSQL: no disk space left for its log (WAL) and its tables',
  producersNotice: 'unavailable',
  duplicates: 'explained',
  setup: {
    beforeData: (dir) => {
      const data = join(dir, 'postgres');
      mkdirSync(data);
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'faults', data]);
    },
  },
  harm: async (installation) => {
    const { postgres } = installation;
    await installation.harming('cut off', 'all', async () => {
      const ballast = join(postgres.data, 'ballast');
      const end = Date.now() + FULL_MS;
      while (Date.now() < end) {
        await fill(ballast);
        await sleep(200);
      }
      await rm(ballast);
      await eventually(
        async () => {
          // Without space for its log, PostgreSQL exits. A supervisor would restart it.
          if (!postgres.isRunning) await postgres.start();
          return postgres.query('SELECT').then(
            () => true,
            () => false,
          );
        },
        Boolean,
        { what: 'PostgreSQL is back' },
      );
    });
  },
  check: wasUnavailable,
  cleanUp: (dir) => {
    execFileSync('umount', [join(dir, 'postgres')]);
  },
};

/** Writes until no space is left. It writes in pieces, because the receiver shares this process. */
async function fill(name: string): Promise<void> {
  const file = await open(name, 'a');
  try {
    for (const block of [Buffer.alloc(1 << 20), Buffer.alloc(1 << 12)]) {
      await writeUntilFull(file, block);
    }
  } finally {
    await file.close();
  }
}

async function writeUntilFull(file: FileHandle, block: Buffer): Promise<void> {
  try {
    for (;;) await file.write(block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
