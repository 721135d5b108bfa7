import type { Installation, Setup } from './installation.js';
import type { Random } from './random.js';
import type { Topology } from './topology.js';

/** A fault, and the promises that hold despite it. */
export interface FaultCase {
  name: string;
  /** What the case does, in a sentence for the report. */
  about: string;
  /** Events a second. */
  rate?: number;
  setup?: Setup;
  /** The reason to skip the case with another set-up of the stores. */
  leftOut?: Partial<Record<keyof Topology, string>>;
  /**
   * What producers may notice: `nothing`, a missing answer (`unanswered`), 503 with Retry-After (`unavailable`), or
   * both (`either`).
   */
  producersNotice: 'nothing' | 'unanswered' | 'unavailable' | 'either';
  /**
   * Which notifications may arrive twice: `none`, or only those that the history explains because their first answer
   * could not be recorded in time (`explained`).
   */
  duplicates: 'none' | 'explained';
  /** How late an attempt may start after it is due, in ms; see history/history.ts. Default: any time. */
  latestMs?: number;
  /** Injects and removes the fault under load. */
  harm: (installation: Installation, random: Random) => Promise<void>;
  /** Undoes what `setup` changed in the directory. */
  cleanUp?: (dir: string) => void;
  /** Checks the end state after everything has settled. @returns a sentence for each broken promise */
  check?: (installation: Installation) => Promise<string[]>;
  /** Limits of memory and its growth, in MB, for processes that idle before they reach full load. */
  memory?: { peakMb: number; growthMb: number };
  /** Measurements, a sentence each for the report. */
  notes?: (installation: Installation) => string[];
  /** Notifications that need not arrive, by `path number`; see receiver.ts. */
  excused?: (installation: Installation) => Promise<Set<string>>;
}
