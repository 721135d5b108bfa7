import type { Installation, Setup } from './installation.js';
import type { Random } from './random.js';
import type { Topology } from './topology.js';

/** A fault, and the promises that hold in spite of it. */
export interface FaultCase {
  name: string;
  /** What the case does, in a sentence for the report. */
  about: string;
  /** Events a second. */
  rate?: number;
  setup?: Setup;
  /** Why it makes no sense with another set-up of the stores. */
  leftOut?: Partial<Record<keyof Topology, string>>;
  /**
   * What producers may notice: `nothing`, a missing answer (`unanswered`), an `unavailable` service (503 with
   * Retry-After), or either.
   */
  producersNotice: 'nothing' | 'unanswered' | 'unavailable' | 'either';
  /**
   * Which notifications may arrive twice: only those whose first answer could not be recorded in time, by the history
   * (`explained`), or none.
   */
  duplicates: 'none' | 'explained';
  /** How much later than due an attempt may start, in ms; see history/history.ts. Default: any. */
  latestMs?: number;
  /** Injects and removes the fault, under load. */
  harm: (installation: Installation, random: Random) => Promise<void>;
  /** Undoes the changes of `setup` to the directory. */
  cleanUp?: (dir: string) => void;
  /** Checks the end state after everything has settled. @returns a sentence for each broken promise */
  check?: (installation: Installation) => Promise<string[]>;
  /** Bounds of the processes' memory and its growth, in MB, for processes that reach full load after idling. */
  memory?: { peakMb: number; growthMb: number };
  /** Measurements, a sentence each for the report. */
  notes?: (installation: Installation) => string[];
  /** Notifications that need not arrive, by `path number`; see receiver.ts. */
  excused?: (installation: Installation) => Promise<Set<string>>;
}
