import type { Installation, Setup } from './installation.js';
import type { Random } from './random.js';

/** One kind of harm, and what is promised of it. */
export interface FaultCase {
  name: string;
  /** What is done, for people: a sentence of the report. */
  about: string;
  /** Events a second. */
  rate?: number;
  setup?: Setup;
  /**
   * What producers may notice: `nothing`, that there was no answer (`unanswered`), that the
   * service was `unavailable` (503 with Retry-After), or either.
   */
  producersNotice: 'nothing' | 'unanswered' | 'unavailable' | 'either';
  /** Whether a notification may come twice; then each must have its explanation. */
  duplicates: 'none' | 'explained';
  /** Does the harm, and undoes it; load is on meanwhile. */
  harm: (installation: Installation, random: Random) => Promise<void>;
  /** Looks at the end, when all is quiet. @returns what is not as promised, a sentence each */
  check?: (installation: Installation) => Promise<string[]>;
  /** Notifications that need not arrive, by `path number`; see receiver.ts. */
  excused?: (installation: Installation) => Promise<Set<string>>;
}
