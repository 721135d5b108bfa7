/** The bits of an advisory lock that tell the µs; the ones above tell the installation. */
const TIME_BITS = 51;

/** The lock of a transaction that accepts events: says since when, in µs. */
const INSTALLATION = `('events'::regclass::integer & ${(1 << (64 - TIME_BITS)) - 1})`;
const LOCKS_SINCE = (time: string) =>
  `(${INSTALLATION}::bigint << ${TIME_BITS}) | (extract(epoch FROM ${time}) * 1000000)::bigint`;

/**
 * The earliest time of the locks of {@link FEED_FUNCTIONS} that are held now, in µs; NULL if there are none. A statement
 * about `pg_locks`, in which a bigint is shown as two halves.
 */
export const EARLIEST_LOCK = `
SELECT min((classid::bigint << 32 | objid::bigint) & ${2n ** BigInt(TIME_BITS) - 1n}) FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 1 AND classid::bigint >> ${TIME_BITS - 32} = ${INSTALLATION}
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** The row of `feed_clock`. By its index, because one long transaction keeps all of its dead versions. */
const CLOCK = 'SELECT at FROM feed_clock ORDER BY at DESC LIMIT 1';

/**
 * SQL of the time that a delivery of an event gets: its place in an ordered subscription, at first and after a retry. While
 * PostgreSQL's clock is behind what the feed has shown, because it was set back, the event's own time would make it wait.
 * @param at SQL of the event's time
 */
export const placedAt = (at: string): string => `least(${at}, now() + interval '1 second')`;

/**
 * What keeps the order of the feed (docs/decisions/2026-11-29-feed.md).
 *
 * feed_time(): the time for the ids of events that this transaction inserts. Until its end, a lock tells others that such
 * an event may still appear. Only then it reads `feed_clock`, with a new snapshot, which a volatile function has.
 *
 * raise_feed_clock(): sets `feed_clock` to the present, and returns it in µs. The time may be used once this is committed. If
 * the present is behind it, because PostgreSQL's clock was set back, it goes on by a µs, so that the events that were
 * accepted meanwhile appear. It stays while there is no partition for a later time: otherwise nothing could be accepted
 * after a clock that was years ahead is set back.
 */
export const FEED_FUNCTIONS = `
CREATE OR REPLACE FUNCTION feed_time() RETURNS timestamptz LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  begun timestamptz := now();
  -- PERFORM would run a query of its own, which takes longer.
  locked text := pg_advisory_xact_lock_shared(${LOCKS_SINCE('begun')});
BEGIN
  RETURN greatest(begun, (${CLOCK}));
END
$$;

CREATE OR REPLACE FUNCTION raise_feed_clock() RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  past timestamptz;
  present timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(7770002, 'events'::regclass::integer);
  past := (${CLOCK});
  present := greatest(clock_timestamp(), past + interval '1 microsecond');
  IF to_regclass('events_' || to_char(present AT TIME ZONE 'UTC', 'YYYYMMDD')) IS NULL THEN
    present := past;
  ELSE
    UPDATE feed_clock SET at = present WHERE at = past;
  END IF;
  RETURN (extract(epoch FROM present) * 1000000)::bigint;
END
$$;
`;
