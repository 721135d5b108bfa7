/** A process of the installation. */
export interface ProcessShown {
  /** `host:pid:random`; a worker's attempts are recorded under it. */
  id: string;
  version: string;
  startedAt: Date;
  /** Its last sign of life; it shows one every ten seconds. */
  seenAt: Date;
  /** Whether that was at most 35 seconds ago. */
  isAlive: boolean;
  /** Of one core, since the sign of life before; absent from a process of an earlier version. */
  cpuPercent?: number;
  /** The resident set; absent from a process of an earlier version. */
  memoryBytes?: number;
}

/** A subscription whose attempts fail. */
export interface FailingTarget {
  webhookId: string;
  accountId: string;
  targetUrl: string;
  /** Failed attempts in a row, ten at most. */
  failures: number;
  failingSince: Date;
  /** Nothing is sent until then. */
  openUntil?: Date;
  /** Its unfinished deliveries, at most 10,000 of each day. */
  waiting: number;
}

/** The state of the whole installation. */
export interface InstallationState {
  /** Unfinished deliveries. */
  pending: number;
  /** How long the oldest due delivery has waited, in seconds; absent if none is due and unclaimed. */
  oldestDueS?: number;
  /** Deliveries whose lease ended without an outcome, among `lookedAt` pending ones. */
  expiredClaims: number;
  lookedAt: number;
  workers: (ProcessShown & { inFlight: number })[];
  apis: ProcessShown[];
  /** Jobs by shard; absent while Redis is away. */
  queues?: { waiting: number; active: number }[];
  /** Bytes by day, newest first; up to a minute old. */
  partitions: { day: string; events: number; deliveries: number; attempts: number }[];
  retention: { days: number; nextDay?: string; nextAt?: Date };
  /** Subscriptions whose targets have failed for the longest time. */
  failing: FailingTarget[];
  /** The newest migration. */
  schemaVersion: string;
}

/** Shows operators the state of the installation. */
export abstract class Overview {
  /** At most a few seconds old, unless it says otherwise. */
  abstract show(): Promise<InstallationState>;
}
