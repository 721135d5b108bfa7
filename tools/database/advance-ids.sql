-- Skips a million ids of each kind. Run it after a restore to an earlier moment and after `migrate`, as the owner of the
-- tables: customers know the ids that were given after that moment, so nothing else may get them.
DO $$
BEGIN
  IF to_regclass(format('%I.webhooks', current_schema())) IS NULL THEN
    RAISE EXCEPTION 'the schema % has no tables of Switchhook: name theirs with PGOPTIONS=--search_path=…', current_schema();
  END IF;
END
$$;

SELECT sequence, setval(sequence, nextval(sequence) + 1000000) AS last
FROM (
  SELECT pg_get_serial_sequence(pg_class.oid::regclass::text, attname) AS sequence
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
  WHERE attidentity <> '' AND relnamespace = current_schema()::regnamespace
) AS identities;
