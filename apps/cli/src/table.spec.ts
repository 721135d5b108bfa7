import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Column, printObject, Table } from './table.js';

const COLUMNS: Column[] = [
  { title: 'id', isNumber: true },
  { title: 'name' },
  { title: 'state', styleOf: (state) => (state === 'off' ? 'red' : undefined) },
];
const ROWS = [
  { value: { id: '7' }, cells: ['7', undefined, 'on'] },
  { value: { id: '123' }, cells: ['123', 'a\tb\u001b[2J', 'off'] },
];

let out: string[];
let err: string[];

beforeEach(() => {
  [out, err] = [[], []];
  vi.spyOn(console, 'log').mockImplementation((line: string) => void out.push(line));
  vi.spyOn(console, 'error').mockImplementation((line: string) => void err.push(line));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

function onTerminal(isTTY: boolean, color: '0' | '1'): void {
  vi.stubEnv('FORCE_COLOR', color);
  vi.spyOn(process, 'stdout', 'get').mockReturnValue(
    Object.create(process.stdout, { isTTY: { value: isTTY } }) as typeof process.stdout,
  );
}

describe('a table', () => {
  it('has tabs between its cells in a pipe, and a place for each empty one', () => {
    onTerminal(false, '1');
    const table = new Table({}, COLUMNS);
    table.add(ROWS);
    table.end('none');
    expect(out).toEqual(['7\t\ton', '123\ta\\u0009b\\u001b[2J\toff']);
    expect(err).toEqual([expect.stringContaining('id\tname\tstate')]);
  });

  it('is aligned and in colour on a terminal', () => {
    onTerminal(true, '1');
    new Table({}, COLUMNS).add(ROWS);
    expect(out).toEqual([
      `  7${' '.repeat(21)}on`,
      '123  a\\u0009b\\u001b[2J  \u001b[31moff\u001b[39m',
    ]);
    expect(err).toEqual([`\u001b[1m id  name${' '.repeat(15)}state\u001b[22m`]);
  });

  it('has no colour on a terminal without colours', () => {
    onTerminal(true, '0');
    new Table({}, COLUMNS).add(ROWS);
    expect([...out, ...err].join('')).not.toContain('\u001b');
  });

  it('aligns what takes two columns of a terminal, or none', () => {
    onTerminal(true, '0');
    const names = ['電話', '📞x', 'e\u0301te\u0301', '👩‍👩‍👧 ab', 'abcde'];
    new Table({}, [{ title: 'n' }, { title: '' }]).add(
      names.map((name) => ({ value: {}, cells: [name, '|'] })),
    );
    expect(out).toEqual(['電話   |', '📞x    |', 'e\u0301te\u0301    |', '👩‍👩‍👧 ab  |', 'abcde  |']);
  });

  it('keeps its heading, and grows, when more rows come', () => {
    onTerminal(true, '0');
    const table = new Table({}, [{ title: 'id', width: 3 }, { title: 'x' }]);
    for (const id of ['1', '12345', '2']) table.add([{ value: {}, cells: [id, 'x'] }]);
    expect(err).toEqual(['id   x']);
    expect(out).toEqual(['1    x', '12345  x', '2      x']);
  });

  it('prints the values alone with --json', () => {
    onTerminal(true, '1');
    const table = new Table({ json: true }, COLUMNS);
    table.add(ROWS);
    expect(out).toEqual(['{"id":"7"}', '{"id":"123"}']);
    expect(err).toEqual([]);
  });

  it('says that there is nothing, but not with --json', () => {
    new Table({ json: true }, COLUMNS).end('none');
    const table = new Table({}, COLUMNS);
    table.add([]);
    table.end('none');
    expect([out, err]).toEqual([[], ['none']]);
  });
});

describe('an object of the API', () => {
  const JSON_TEXT = '{"id":"1","enabled":true,"payload":{"n":12345678901234567890},"data":{}}';

  it('has a line for each member, with numbers as they were sent', () => {
    onTerminal(false, '1');
    printObject({}, JSON_TEXT, ['data']);
    expect(out).toEqual(['id\t1', 'enabled\ttrue', 'payload\t{"n":12345678901234567890}']);
  });

  it('is aligned on a terminal', () => {
    onTerminal(true, '0');
    printObject({}, JSON_TEXT, ['data', 'payload']);
    expect(out).toEqual(['id       1', 'enabled  true']);
  });

  it('is printed as it was sent with --json', () => {
    printObject({ json: true }, JSON_TEXT, ['data']);
    expect(out).toEqual([JSON_TEXT]);
  });
});
