import { expect, it } from 'vitest';
import { RecordSplitter } from './records.js';

const IDS = ['019a0b1c-2d3e-7f40-8a51-b26c73d84e95', '019a0b1c-2d3c-7a10-9c77-04d6f1e2b388'];
const NDJSON = IDS.map((id) => `{"id":"${id}","data":{"text":"é\\n"}}\n`).join('');
const ROWS = IDS.map((id) => `${id},"{""text"":\r\n ""é""}"\r\n`).join('');

it.each([
  ['ndjson', '', NDJSON],
  ['csv', 'id,data\r\n', ROWS],
] as const)(
  'finds the complete records of %s, however its bytes are split',
  (format, header, records) => {
    const bytes = Buffer.from(header + records);
    for (let size = 1; size < bytes.length; size += 1) {
      const splitter = new RecordSplitter(format);
      let text = '';
      for (let at = 0; at < bytes.length; at += size) {
        text += splitter.add(bytes.subarray(at, at + size)).rows.toString();
      }
      expect([size, text]).toEqual([size, records]);
      expect(splitter).toMatchObject({ count: 2, bytes: bytes.length, lastId: IDS[1] });
    }
  },
);

it('leaves out a record that is not complete', () => {
  const splitter = new RecordSplitter('csv');
  const whole = `id,data\r\n${ROWS}`;
  expect(splitter.add(Buffer.from(`${whole}${IDS[0]!},"a\r\n`)).rows.toString()).toBe(ROWS);
  expect(splitter).toMatchObject({ count: 2, bytes: Buffer.byteLength(whole), lastId: IDS[1] });
});

it('knows no id behind a header alone', () => {
  const splitter = new RecordSplitter('csv');
  const { header, rows } = splitter.add(Buffer.from('id,data\r\n'));
  expect([header, rows].map(String)).toEqual(['id,data\r\n', '']);
  expect([splitter.count, splitter.bytes, splitter.lastId]).toEqual([0, 9, undefined]);
});
