import type { Schemas } from '../../../app/api.js';

export type Signature = Schemas['Signature'];

/**
 * A program that receives notifications on port 4000 and verifies them. It reads the key from the environment:
 * `WEBHOOK_SECRET`, or `WEBHOOK_PUBLIC_KEY` for `ed25519`.
 */
export interface Snippet {
  language: string;
  /** The command that starts it. */
  run: string;
  /** A command to run first. */
  needs: Partial<Record<Signature, string>>;
  code: Record<Signature, string>;
}
