const TEXT_OID = 25;
const HEADER_BYTES = 20;

/**
 * A `text[]` without NULL in the binary format of PostgreSQL (`array_recv`). As text, which the driver would send, each
 * quote and each backslash is escaped: for eight megabytes of JSON, that takes a tenth of a second.
 */
export function textArray(values: readonly string[]): Buffer {
  const lengths = values.map((value) => Buffer.byteLength(value));
  const size = lengths.reduce((sum, length) => sum + 4 + length, HEADER_BYTES);
  const bytes = Buffer.allocUnsafe(size);
  bytes.writeInt32BE(1, 0);
  bytes.writeInt32BE(0, 4);
  bytes.writeInt32BE(TEXT_OID, 8);
  bytes.writeInt32BE(values.length, 12);
  bytes.writeInt32BE(1, 16);
  let at = HEADER_BYTES;
  values.forEach((value, index) => {
    at = bytes.writeInt32BE(lengths[index]!, at);
    at += bytes.write(value, at);
  });
  return bytes;
}
