import { ChevronRight } from 'lucide-react';
import { type KeyboardEvent, type MouseEvent, useMemo, useRef, useState } from 'react';
import { copyText } from './copy-button.js';
import {
  canFold,
  firstUnfolded,
  type JsonLine,
  type JsonNode,
  linesOf,
  pathOf,
  STEP,
  valueText,
} from './json-tree.js';

/** Deeper values are not indented further. */
const MOST_INDENT = 30;
/** The characters shown of a folded string. */
const SHOWN_CHARS = 200;

/**
 * Formatted JSON, as a tree that the arrow keys navigate. Objects, lists and long strings fold. The line under the
 * pointer or with the focus has buttons to copy its value and its path.
 */
export function JsonView({ label, text, root }: { label: string; text: string; root: JsonNode }) {
  const [unfolded, setUnfolded] = useState(() => firstUnfolded(root));
  const lines = useMemo(() => linesOf(root, unfolded), [root, unfolded]);
  const byKey = useMemo(() => new Map(lines.map((line) => [keyOf(line), line])), [lines]);
  const [active, setActive] = useState('0');
  const [offered, setOffered] = useState<{ key: string; top: number }>();
  const tree = useRef<HTMLDivElement>(null);
  const stop = byKey.has(active) ? active : '0';

  function toggle(key: string): void {
    const { node, part } = byKey.get(key) ?? {};
    if (!node || (part === 'value' && !canFold(node))) return;
    const next = new Map(unfolded);
    if (part === 'rest') next.set(node, (next.get(node) ?? 0) + STEP);
    else if (!next.delete(node)) next.set(node, STEP);
    setUnfolded(next);
  }

  function offer({ target }: { target: EventTarget | null }): void {
    const row = rowOf(target);
    if (row) setOffered({ key: row.dataset['key'] ?? '', top: row.offsetTop });
  }

  function onClick({ target }: MouseEvent): void {
    const key = rowOf(target)?.dataset['key'];
    // Selecting text does not fold.
    if (key !== undefined && getSelection()?.isCollapsed !== false) toggle(key);
  }

  function focus(key: string | undefined): void {
    if (key !== undefined) {
      tree.current?.querySelector<HTMLElement>(`[data-key="${key}"]`)?.focus();
    }
  }

  function onKeyDown(event: KeyboardEvent): void {
    const { key, ctrlKey, metaKey } = event;
    const line = byKey.get(stop);
    if (!line) return;
    const isOpen = line.part === 'value' && unfolded.has(line.node);
    const keys = [...byKey.keys()].filter((each) => !each.endsWith('end'));
    const at = keys.indexOf(stop);
    if ((ctrlKey || metaKey) && key === 'c' && getSelection()?.isCollapsed !== false) {
      void copyText(valueText(text, line.node));
    } else if (ctrlKey || metaKey) return;
    else if (key === 'ArrowDown') focus(keys[at + 1]);
    else if (key === 'ArrowUp') focus(keys[at - 1]);
    else if (key === 'Home') focus(keys[0]);
    else if (key === 'End') focus(keys.at(-1));
    else if (key === 'ArrowLeft' && !isOpen) focus(String(line.node.parent?.id ?? 0));
    else if (key === 'ArrowRight' && isOpen) focus(keys[at + 1]);
    else if (['ArrowLeft', 'ArrowRight', 'Enter', ' '].includes(key)) toggle(stop);
    else return;
    event.preventDefault();
  }

  const rows = useMemo(
    () =>
      lines.map((line) => (
        <Line
          key={keyOf(line)}
          line={line}
          text={text}
          isOpen={unfolded.has(line.node)}
          isStop={keyOf(line) === stop}
        />
      )),
    [lines, text, unfolded, stop],
  );
  const node = offered && byKey.get(offered.key)?.node;
  return (
    <div
      className="json-view"
      onPointerOver={offer}
      onFocus={offer}
      onPointerLeave={({ currentTarget }) => {
        const { activeElement } = document;
        if (currentTarget.contains(activeElement)) offer({ target: activeElement });
        else setOffered(undefined);
      }}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) setOffered(undefined);
      }}
    >
      <div
        ref={tree}
        role="tree"
        aria-label={label}
        onClick={onClick}
        onKeyDown={onKeyDown}
        onFocus={({ target }) => setActive(rowOf(target)?.dataset['key'] ?? '0')}
      >
        {rows}
      </div>
      {node && (
        <div className="json-copy" style={{ top: offered.top }}>
          <button
            type="button"
            aria-label="Copy the value"
            onClick={() => void copyText(valueText(text, node))}
          >
            Copy
          </button>
          {node.parent && (
            <button
              type="button"
              title={pathOf(node).slice(0, SHOWN_CHARS)}
              aria-label="Copy the path"
              onClick={() => void copyText(pathOf(node))}
            >
              Path
            </button>
          )}
        </div>
      )}
    </div>
  );
}

const keyOf = ({ node, part }: JsonLine): string =>
  part === 'value' ? String(node.id) : `${node.id}-${part}`;

function rowOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>('[role=treeitem]') : null;
}

const MARKS = { object: ['{', '}', 'member'], array: ['[', ']', 'item'] } as const;

function Line({
  line: { node, part, hasNext },
  text,
  isOpen,
  isStop,
}: {
  line: JsonLine;
  text: string;
  isOpen: boolean;
  isStop: boolean;
}) {
  const { kind, name, start, end, children } = node;
  const isFoldable = canFold(node);
  const depth = Math.min(node.depth + (part === 'rest' ? 1 : 0), MOST_INDENT);
  // A wrapped line continues below its own beginning.
  const style = {
    paddingInlineStart: `calc(${depth * 2 + 2}ch + 16px)`,
    textIndent: `-${depth * 2 + 2}ch`,
    minWidth: `${depth * 2 + 26}ch`,
  };
  const indent = '  '.repeat(depth);
  const comma = hasNext ? ',' : '';
  const marks = kind === 'object' || kind === 'array' ? MARKS[kind] : undefined;
  if (part === 'end') {
    return (
      <div style={style}>
        {indent}
        {marks?.[1]}
        {comma}
      </div>
    );
  }
  const row = {
    role: 'treeitem',
    'aria-level': depth + 1,
    'data-key': keyOf({ node, part, hasNext }),
    tabIndex: isStop ? 0 : -1,
    style,
  };
  if (part === 'rest') {
    return (
      <div {...row} className="json-rest">
        {indent}Show more of {countText(children.length, marks?.[2] ?? '')}
      </div>
    );
  }
  return (
    <div {...row} aria-expanded={isFoldable ? isOpen : undefined}>
      {indent}
      {isFoldable && <ChevronRight size={12} aria-hidden />}
      {name !== undefined && (
        <>
          <bdi className="json-name">{name}</bdi>
          {': '}
        </>
      )}
      {marks && children.length > 0 ? (
        isOpen ? (
          marks[0]
        ) : (
          <>
            {marks[0]}…{marks[1]}
            {comma}
            <span className="json-count">{countText(children.length, marks[2])}</span>
          </>
        )
      ) : marks ? (
        `${text.slice(start, end)}${comma}`
      ) : isFoldable && !isOpen ? (
        <>
          <bdi className="json-string">{text.slice(start, start + SHOWN_CHARS)}</bdi>…{comma}
          <span className="json-count">{countText(end - start - 2, 'character')}</span>
        </>
      ) : (
        <>
          <bdi className={`json-${kind}`}>{text.slice(start, end)}</bdi>
          {comma}
        </>
      )}
    </div>
  );
}

const countText = (count: number, thing: string): string =>
  `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`;
