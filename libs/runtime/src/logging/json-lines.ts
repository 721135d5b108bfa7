import { type DestinationStream, type Logger, pino } from 'pino';
import { firstLine, isAway } from '../database/database-errors.js';
import { refusalOf } from '../redis/redis-refusals.js';

/**
 * The lines of a log, for programs without Nest.
 * @param to standard output by default
 */
export function jsonLines(
  name: string,
  level: string,
  // Without `minLength`, `flush` would not wait for a line that is being written.
  to: DestinationStream = pino.destination({ dest: 1, minLength: 1 }),
): Logger {
  const options = {
    level,
    base: { process: name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: errorFields },
  };
  return pino(options, to);
}

/**
 * The logged fields of an error, without the statement and its values, which driver errors contain. During an
 * outage every request fails, and a stack would explain none of the failures.
 */
function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack } = error;
  const code = (error as { code?: unknown }).code;
  return {
    type: name,
    message: message || firstLine(error),
    ...(typeof code === 'string' && { code }),
    ...(!isOutage(error) && { stack }),
    ...(error.cause !== undefined && { cause: errorFields(error.cause) }),
  };
}

function isOutage(error: unknown): boolean {
  if (isAway(error) || refusalOf(error) !== undefined) return true;
  return error instanceof Error && isOutage(error.cause);
}
