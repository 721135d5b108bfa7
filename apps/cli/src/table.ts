import { styleText } from 'node:util';
import { rawMember } from '#libs/kernel';
import { inOneLine, type OutputOptions, print, tell } from './output.js';

export type Style = Parameters<typeof styleText>[0];

export interface Column {
  title: string;
  /** The least width on a terminal, for rows that come one by one. */
  width?: number;
  isNumber?: true;
  /** The style of a value on a terminal. */
  styleOf?: (value: string) => Style | undefined;
}

export interface Row {
  /** The row with `--json`, as an object or as JSON text in one line. */
  value: object | string;
  /** One for each column. */
  cells: readonly (string | undefined)[];
}

const GAP = '  ';

/**
 * Prints rows: aligned and in colour on a terminal; otherwise with tabs between the cells, so that a script finds the
 * third cell by `cut -f 3` even if the second has blanks or is empty.
 */
export class Table {
  private widths: number[];
  private isBegun = false;

  constructor(
    private readonly options: OutputOptions,
    private readonly columns: readonly Column[],
  ) {
    this.widths = columns.map(({ title, width = 0 }) => Math.max(title.length, width));
  }

  /** Prints more rows. On a terminal, columns grow to what these rows need. */
  add(rows: readonly Row[]): void {
    if (rows.length === 0) return;
    const lines = rows.map(({ value, cells }) => ({
      value,
      cells: this.columns.map((_, i) => inOneLine(cells[i] ?? '')),
    }));
    if (process.stdout.isTTY) {
      this.widths = this.widths.map((width, i) =>
        Math.max(width, ...lines.map(({ cells }) => widthOf(cells[i]!))),
      );
    }
    if (!this.isBegun) this.begin();
    for (const { value, cells } of lines) {
      if (this.options.json) print(this.options, value, '');
      else console.log(this.lineOf(cells, this.columns));
    }
  }

  /** Says so if there was no row. */
  end(whenEmpty: string): void {
    if (!this.isBegun) tell(this.options, whenEmpty);
  }

  private begin(): void {
    this.isBegun = true;
    if (this.options.json) return;
    const heading = this.lineOf(this.columns.map(({ title }) => title));
    // On standard error, so that standard output has only rows.
    console.error(styleText('bold', heading, { stream: process.stderr }));
  }

  /** @param styled the columns whose styles apply */
  private lineOf(cells: readonly string[], styled: readonly Column[] = []): string {
    if (!process.stdout.isTTY) return cells.join('\t');
    const aligned = cells.map((cell, i) => {
      const style = styled[i]?.styleOf?.(cell);
      const text = style === undefined ? cell : styleText(style, cell);
      const blanks = ' '.repeat(this.widths[i]! - widthOf(cell));
      return this.columns[i]!.isNumber ? blanks + text : text + blanks;
    });
    return aligned.join(GAP).trimEnd();
  }
}

/**
 * Prints an object that the API sent, a member a line: aligned on a terminal, otherwise with a tab behind the name. Objects
 * in it keep the text that was sent.
 * @param omitted members that the command prints in another way; `--json` prints all
 */
export function printObject(
  options: OutputOptions,
  json: string,
  omitted: readonly string[] = [],
): void {
  if (options.json) {
    print(options, json, '');
    return;
  }
  const members = Object.entries(JSON.parse(json) as object).filter(
    ([name]) => !omitted.includes(name),
  );
  printFields(
    members.map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'string' ? value : rawMember(json, name)!,
    ]),
  );
}

/** Prints names with their values, one a line: aligned on a terminal, otherwise with a tab between them. */
export function printFields(fields: readonly (readonly [name: string, value: string])[]): void {
  const width = Math.max(...fields.map(([name]) => name.length));
  for (const [name, value] of fields) {
    const label = process.stdout.isTTY ? styleText('dim', name.padEnd(width)) + GAP : `${name}\t`;
    console.log(label + inOneLine(value));
  }
}

const PLAIN = /^[ -~]*$/;
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

/** How many columns of a terminal a text takes. Chinese characters and emoji take two. */
function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  const graphemes = Array.from(new Intl.Segmenter().segment(text));
  return graphemes.reduce((width, { segment }) => width + (WIDE.test(segment) ? 2 : 1), 0);
}
