import type { Schemas } from '../../app/api.js';

type Attempt = Pick<Schemas['Attempt'], 'durationMs' | 'phases' | 'error'>;

/** A part of an attempt. */
export interface Part {
  label: string;
  ms: number;
  /** Its share of the whole attempt, from 0 to 1; absent for the wait before it. */
  share?: number;
}

const ANSWER = 'Wait for the answer';

const LABELS: Record<Exclude<keyof Schemas['AttemptPhases'], 'queued'>, string> = {
  dns: 'DNS lookup',
  connect: 'Connect',
  tls: 'TLS handshake',
  firstByte: ANSWER,
  body: 'Read the answer',
};

/** The parts of an attempt, in order; empty for attempts of earlier versions. */
export function partsOf({ durationMs, phases, error }: Attempt): Part[] {
  if (!phases) return [];
  const { queued, ...others } = phases;
  const parts = Object.entries(LABELS).flatMap(([name, label]) => {
    const ms = others[name as keyof typeof LABELS];
    return ms === undefined ? [] : [{ label, ms }];
  });
  if (error !== undefined) {
    // A phase that failed is not recorded.
    const known = parts.reduce((sum, { ms }) => sum + ms, 0);
    // The connection phases are recorded once the request is sent.
    const label = others.connect === undefined ? 'Not finished' : ANSWER;
    parts.push({ label, ms: Math.max(durationMs - known, 0) });
  }
  // `durationMs` does not cover reading the body, and times are rounded.
  const whole = Math.max(
    parts.reduce((sum, { ms }) => sum + ms, 0),
    durationMs,
    1,
  );
  return [
    ...(queued === undefined ? [] : [{ label: 'Wait to be sent', ms: queued }]),
    ...parts.map((part) => ({ ...part, share: part.ms / whole })),
  ];
}
