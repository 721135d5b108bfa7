import { applyPatch, parsePatch, type StructuredPatch } from 'diff';

/** A block of a page that adds a file or changes one. */
interface Step {
  /** Absent where the block does not say it. */
  path: string | undefined;
  isDiff: boolean;
  text: string;
}

/** A command of a page, and the lines that the page says it shows. */
export interface Command {
  line: string;
  shows: string[];
}

/** A section of a page that says, block by block, how something is built. */
export interface WorkedExample {
  title: string;
  steps: Step[];
  commands: Command[];
}

/** The text of a file, or undefined where there is none. */
export type ReadFile = (path: string) => string | undefined;

const HEADING = /^## (.*)$/;
const FENCE = /^(`{3,})(\w*)$/;
/** What stands before a block that is a whole file. */
const NEW_FILE = /^New file `([^`]+)`:$/;
/** The commands that are carried out; others are for trying things by hand. */
const COMMAND = /^ {4}(npm (?:run check|run client:generate|test .*))$/;

/**
 * The sections of a page that have code in them. A `diff` block changes a file, a `text` block is
 * what the command above it shows, and any other block is a file, named in the line before it.
 */
export function workedExamples(page: string): WorkedExample[] {
  const examples: WorkedExample[] = [];
  let example: WorkedExample = { title: '', steps: [], commands: [] };
  let before = '';
  const lines = page.split('\n').values();
  for (const line of lines) {
    const [, title] = HEADING.exec(line) ?? [];
    const [, fence, language = ''] = FENCE.exec(line) ?? [];
    const [, command] = COMMAND.exec(line) ?? [];
    if (title !== undefined) examples.push((example = { title, steps: [], commands: [] }));
    if (command !== undefined) example.commands.push({ line: command, shows: [] });
    if (fence !== undefined) {
      const text = blockOf(lines, fence);
      if (language === 'text') example.commands.at(-1)?.shows.push(...text.trimEnd().split('\n'));
      else example.steps.push(stepOf(language, text, before));
    }
    if (line !== '') before = line;
  }
  return examples.filter(({ steps }) => steps.length > 0);
}

function blockOf(lines: Iterator<string>, fence: string): string {
  let text = '';
  for (let next = lines.next(); !next.done && next.value !== fence; next = lines.next()) {
    text += `${next.value}\n`;
  }
  return text;
}

function stepOf(language: string, text: string, before: string): Step {
  if (language !== 'diff') return { path: NEW_FILE.exec(before)?.[1], isDiff: false, text };
  return { path: /^\+\+\+ b\/(.*)$/m.exec(text)?.[1], isDiff: true, text };
}

/**
 * Does what an example says, without writing anything.
 * @returns the new texts, by path
 * @throws Error that names the section and the block that does not fit
 */
export function carriedOut({ title, steps }: WorkedExample, read: ReadFile): Map<string, string> {
  const files = new Map<string, string>();
  for (const { path, isDiff, text } of steps) {
    const fail = (why: string): never => {
      throw new Error(`docs/extending.md, "${title}", ${path ?? text.slice(0, 80)}: ${why}`);
    };
    if (path === undefined) return fail('the block does not say which file it is');
    const source = files.get(path) ?? read(path);
    if (!isDiff && source !== undefined) fail('is there already');
    files.set(path, isDiff ? patched(source ?? fail('is not there'), text, fail) : text);
  }
  return files;
}

/** Each hunk must fit, to the letter, in exactly one place; line numbers may have moved. */
function patched(source: string, text: string, fail: (why: string) => never): string {
  const [patch, more] = parsePatch(text) as [StructuredPatch, StructuredPatch?];
  if (more || patch.hunks.length === 0) fail('the diff is not one of one file');
  for (const { lines } of patch.hunks) {
    const old = lines.filter((line) => !line.startsWith('+')).map((line) => `${line.slice(1)}\n`);
    const places = source.split(old.join('')).length - 1;
    if (places !== 1) fail(`these lines are there ${places} times, not once:\n${old.join('')}`);
  }
  const result = applyPatch(source, patch);
  return result === false ? fail('the diff does not apply') : result;
}
