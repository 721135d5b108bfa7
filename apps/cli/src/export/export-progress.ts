import { timeOfId } from '#libs/kernel';
import { complain, type OutputOptions, plural } from '../output.js';
import { progressLine } from '../progress-line.js';

const EVERY_MS = 100;
const BAR = 24;

/** Shows on standard error how far an export is, if that is a terminal. The newest entries come first. */
export class ExportProgress {
  private readonly start = Date.now();
  private shownAt = 0;

  /** @param since where the export ends */
  constructor(
    private readonly things: readonly [one: string, many: string],
    private readonly since: string | undefined,
    private readonly options: OutputOptions,
  ) {}

  show(count: number, lastId: string | undefined): void {
    const now = Date.now();
    if (!process.stderr.isTTY || lastId === undefined || now - this.shownAt < EVERY_MS) return;
    this.shownAt = now;
    const at = timeOfId(lastId);
    const back = `back to ${at.toISOString().slice(0, 19)}Z`;
    progressLine.show(`${this.bar(at)}${this.counted(count)}, ${back}`);
  }

  /** Removes the line. */
  clear(): void {
    if (this.shownAt > 0) progressLine.clear();
  }

  end(count: number, output: string | undefined): void {
    this.clear();
    const seconds = ((Date.now() - this.start) / 1_000).toFixed(1);
    const where = output === undefined ? '' : ` in ${output}`;
    if (!this.options.json) complain(`${this.counted(count)}${where}, ${seconds} s`);
  }

  private counted(count: number): string {
    return `${count.toLocaleString('en')} ${plural(count, ...this.things)}`;
  }

  private bar(at: Date): string {
    const end = Date.parse(this.since ?? '');
    if (Number.isNaN(end) || end >= this.start) return '';
    const part = Math.min(Math.max((this.start - at.getTime()) / (this.start - end), 0), 1);
    const full = Math.round(part * BAR);
    return `[${'#'.repeat(full)}${'.'.repeat(BAR - full)}] `;
  }
}
