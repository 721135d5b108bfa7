/** A value in a JSON text. It keeps its position there, so that large numbers keep all their digits. */
export interface JsonNode {
  /** Its number in the text, in order. */
  id: number;
  kind: 'object' | 'array' | 'string' | 'number' | 'word';
  /** The name of an object's member, as written, with its quotes. */
  name?: string | undefined;
  start: number;
  end: number;
  parent?: JsonNode | undefined;
  depth: number;
  /** Members or items. */
  children: JsonNode[];
}

const PIECE = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g;

/** The outermost value; undefined if the text is not JSON. Deep nesting does not exhaust the stack. */
export function jsonTree(text: string): JsonNode | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  let root: JsonNode | undefined;
  let parent: JsonNode | undefined;
  let name: string | undefined;
  let id = 0;
  for (const { 0: piece, index } of text.matchAll(PIECE)) {
    const end = index + piece.length;
    if (piece === '}' || piece === ']') {
      if (parent) parent.end = end;
      parent = parent?.parent;
    } else if (parent?.kind === 'object' && name === undefined && piece.startsWith('"')) {
      name = piece;
    } else if (piece !== ',' && piece !== ':') {
      const depth = parent ? parent.depth + 1 : 0;
      const kind = kindOf(piece);
      const node: JsonNode = { id, kind, name, start: index, end, parent, depth, children: [] };
      id += 1;
      name = undefined;
      root ??= node;
      parent?.children.push(node);
      if (kind === 'object' || kind === 'array') parent = node;
    }
  }
  return root;
}

function kindOf(piece: string): JsonNode['kind'] {
  if (piece === '{') return 'object';
  if (piece === '[') return 'array';
  if (piece.startsWith('"')) return 'string';
  return /^[-\d]/.test(piece) ? 'number' : 'word';
}

/** The text to copy: a string without quotes and escapes, any other value as written. */
export function valueText(text: string, { kind, start, end }: JsonNode): string {
  const piece = text.slice(start, end);
  return kind === 'string' ? (JSON.parse(piece) as string) : piece;
}

/** The path of a value, such as `data.items[0]["odd name"]`; empty for the outermost one. */
export function pathOf(node: JsonNode): string {
  const steps: string[] = [];
  for (let at = node; at.parent; at = at.parent) {
    const name =
      at.name === undefined ? at.parent.children.indexOf(at) : (JSON.parse(at.name) as string);
    const isPlain = typeof name === 'string' && /^[A-Za-z_$][\w$]*$/.test(name);
    steps.push(isPlain ? `.${name}` : `[${JSON.stringify(name)}]`);
  }
  return steps.reverse().join('').replace(/^\./, '');
}

/** How many children each unfolded value shows. A long string folds as if it had one child. */
export type Unfolded = ReadonlyMap<JsonNode, number>;

/** At most this many lines are unfolded at first, not counting the outermost value's. */
const FIRST_LINES = 200;
const FIRST_DEPTH = 6;
/** At most this many children are added at a time. */
export const STEP = 200;
/** Longer strings start folded. */
const LONG = 1_000;

export const canFold = ({ kind, start, end, children }: JsonNode): boolean =>
  children.length > 0 || (kind === 'string' && end - start > LONG);

/** The values that are unfolded at first: outer ones before inner ones, up to the limit. */
export function firstUnfolded(root: JsonNode): Unfolded {
  const unfolded = new Map([[root, STEP]]);
  const values = [root];
  let lines = 0;
  for (const { children } of values) {
    lines += Math.min(children.length, STEP);
    for (const child of children.slice(0, STEP)) {
      const { depth, children: inner } = child;
      if (inner.length === 0 || depth >= FIRST_DEPTH || lines + inner.length > FIRST_LINES)
        continue;
      unfolded.set(child, STEP);
      values.push(child);
    }
  }
  return unfolded;
}

/** A line of formatted JSON: a value or its beginning, its end, or the number of its hidden children. */
export interface JsonLine {
  part: 'value' | 'end' | 'rest';
  node: JsonNode;
  /** Whether a comma follows. */
  hasNext: boolean;
}

export function linesOf(root: JsonNode, unfolded: Unfolded): JsonLine[] {
  const lines: JsonLine[] = [];
  const add = (node: JsonNode, hasNext: boolean) => {
    lines.push({ part: 'value', node, hasNext });
    const count = unfolded.get(node);
    if (count === undefined || node.children.length === 0) return;
    const last = node.children.length - 1;
    node.children.slice(0, count).forEach((child, index) => add(child, index < last));
    if (count <= last) lines.push({ part: 'rest', node, hasNext: false });
    lines.push({ part: 'end', node, hasNext });
  };
  add(root, false);
  return lines;
}
