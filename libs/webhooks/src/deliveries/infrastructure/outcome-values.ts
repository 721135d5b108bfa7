import type { Conclusion, Outcome } from '../domain/pending-deliveries.js';

/** The arrays of RECORD. @param outcomes in the order of their ids */
export function outcomeValues(outcomes: readonly Outcome[]): unknown[] {
  const attempts = outcomes.map((outcome) => outcome.attempt);
  const valuesOf = (conclusions: Conclusion[]): unknown[] => [
    conclusions.map((conclusion) => conclusion.state),
    conclusions.map((conclusion) => ('reason' in conclusion ? conclusion.reason : null)),
    conclusions.map((conclusion) => ('delayMs' in conclusion ? conclusion.delayMs : null)),
  ];
  return [
    outcomes.map((outcome) => outcome.id),
    outcomes.map((outcome) => outcome.lease),
    attempts.map((attempt) => attempt.number),
    attempts.map((attempt) => attempt.at.toISOString()),
    attempts.map((attempt) => Math.round(attempt.durationMs)),
    attempts.map((attempt) => attempt.status ?? null),
    attempts.map((attempt) => attempt.error ?? null),
    attempts.map((attempt) => attempt.address ?? null),
    attempts.map(({ responseHeaders }) => responseHeaders && JSON.stringify(responseHeaders)),
    attempts.map((attempt) => attempt.responseBody ?? null),
    attempts.map((attempt) => attempt.truncated),
    outcomes.map((outcome) => outcome.scheduleBase),
    ...valuesOf(outcomes.map((outcome) => outcome.conclusion)),
    ...valuesOf(outcomes.map((outcome) => outcome.afresh)),
  ];
}
