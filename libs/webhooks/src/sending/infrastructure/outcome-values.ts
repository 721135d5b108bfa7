import type { Conclusion, Outcome } from '../domain/pending-deliveries.js';
import { sentText } from '../../deliveries/infrastructure/sent-text.js';

export type OutcomeValues = ReturnType<typeof outcomeValues>;

/** Converts outcomes to arrays, one for each column. @param outcomes sorted by id */
export function outcomeValues(outcomes: readonly Outcome[]) {
  const attempts = outcomes.map((outcome) => outcome.attempt);
  const conclusions = outcomes.map((outcome) => outcome.conclusion);
  const restarted = outcomes.map((outcome) => outcome.ifRestarted);
  return {
    ids: outcomes.map((outcome) => outcome.id),
    leases: outcomes.map((outcome) => outcome.lease),
    numbers: attempts.map((attempt) => attempt.number),
    at: attempts.map((attempt) => attempt.at.toISOString()),
    durationsMs: attempts.map((attempt) => Math.round(attempt.durationMs)),
    statuses: attempts.map((attempt) => attempt.status),
    errors: attempts.map((attempt) => attempt.error),
    addresses: attempts.map((attempt) => attempt.address),
    headers: attempts.map(
      ({ responseHeaders }) => responseHeaders && JSON.stringify(responseHeaders),
    ),
    bodies: attempts.map((attempt) => attempt.responseBody),
    truncated: attempts.map((attempt) => attempt.truncated),
    sent: attempts.map(sentText),
    scheduleBases: outcomes.map((outcome) => outcome.scheduleBase),
    states: conclusions.map(({ state }) => state),
    reasons: conclusions.map(reasonOf),
    delaysMs: conclusions.map(delayMsOf),
    restartedStates: restarted.map(({ state }) => state),
    restartedReasons: restarted.map(reasonOf),
    restartedDelaysMs: restarted.map(delayMsOf),
  };
}

function reasonOf(conclusion: Conclusion): string | undefined {
  return 'reason' in conclusion ? conclusion.reason : undefined;
}

function delayMsOf(conclusion: Conclusion): number | undefined {
  return 'delayMs' in conclusion ? conclusion.delayMs : undefined;
}
