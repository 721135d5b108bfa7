import { expect, it } from 'vitest';
import { RecordCounter } from './records.js';

/** Counts a text that arrives in pieces of three bytes. */
function counted(format: 'csv' | 'ndjson', text: string) {
  const counter = new RecordCounter(format);
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += 3) counter.add(bytes.subarray(at, at + 3));
  const last = new TextDecoder().decode(bytes.subarray(counter.lastAt));
  return { count: counter.count, last };
}

it('counts the records of a CSV file, whose cells may have line breaks and quotes', () => {
  const text = 'id,data\r\n1,"a\nb ""c""\n"\r\n2,é\r\n';
  expect(counted('csv', text)).toEqual({ count: 2, last: '2,é\r\n' });
});

it('takes quotes of NDJSON for text', () => {
  const text = '{"id":1,"text":"é\\""}\n{"id":2}\n';
  expect(counted('ndjson', text)).toEqual({ count: 2, last: '{"id":2}\n' });
});

it('counts nothing in a CSV file that has only a header', () => {
  expect(counted('csv', 'id,data\r\n').count).toBe(0);
});
