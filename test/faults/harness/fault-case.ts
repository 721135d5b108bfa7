import type { Installation, Setup } from './installation.js';
import type { Random } from './random.js';
import type { Topology } from './topology.js';

/** One kind of harm, and what is promised of it. */
export interface FaultCase {
  name: string;
  /** What is done, for people: a sentence of the report. */
  about: string;
  /** Events a second. */
  rate?: number;
  setup?: Setup;
  /** Why it makes no sense where stores are set up in another way. */
  leftOut?: Partial<Record<keyof Topology, string>>;
  /**
   * What producers may notice: `nothing`, that there was no answer (`unanswered`), that the
   * service was `unavailable` (503 with Retry-After), or either.
   */
  producersNotice: 'nothing' | 'unanswered' | 'unavailable' | 'either';
  /**
   * Which notifications may come twice: those whose first answer could not be recorded, or not in
   * time, as the history shows (`explained`), or none.
   */
  duplicates: 'none' | 'explained';
  /** How much later than due an attempt may start, ms; see history/history.ts. Default: any. */
  latestMs?: number;
  /** Does the harm, and undoes it; load is on meanwhile. */
  harm: (installation: Installation, random: Random) => Promise<void>;
  /** Undoes what `setup` did to the directory. */
  cleanUp?: (dir: string) => void;
  /** Looks at the end, when all is quiet. @returns what is not as promised, a sentence each */
  check?: (installation: Installation) => Promise<string[]>;
  /** What processes may have and grow by, in MB, where they do as much as they can after they were idle. */
  memory?: { peakMb: number; growthMb: number };
  /** What was measured, a sentence each for the report. */
  notes?: (installation: Installation) => string[];
  /** Notifications that need not arrive, by `path number`; see receiver.ts. */
  excused?: (installation: Installation) => Promise<Set<string>>;
}
