import { describe, expect, it } from 'vitest';
import { firstUnfolded, jsonTree, linesOf, pathOf, STEP, valueText } from './json-tree.js';

describe('the tree', () => {
  const text =
    '{"n":1e400,"n": 98765432109876543210.50 ,"s":"a \\"b\\", {c}","l":[1,[],{}],"odd name":{"ü":null}}';
  const root = jsonTree(text)!;

  it('keeps numbers, repeated names and strings exactly as written', () => {
    const found = root.children.map((node) => [node.name, node.kind, valueText(text, node)]);
    expect(found).toEqual([
      ['"n"', 'number', '1e400'],
      ['"n"', 'number', '98765432109876543210.50'],
      ['"s"', 'string', 'a "b", {c}'],
      ['"l"', 'array', '[1,[],{}]'],
      ['"odd name"', 'object', '{"ü":null}'],
    ]);
  });

  it('gives the path of a value', () => {
    const [, , , list, odd] = root.children;
    expect([root, list!, list!.children[2]!, odd!.children[0]!].map(pathOf)).toEqual([
      '',
      'l',
      'l[2]',
      '["odd name"]["ü"]',
    ]);
  });

  it.each(['', 'no JSON', '{"a":1', '<html>'])('does not exist for invalid JSON: %j', (other) => {
    expect(jsonTree(other)).toBeUndefined();
  });

  it.each(['1', '"text"', 'null', '[]', '{}'])('of %s is one line', (other) => {
    const value = jsonTree(other)!;
    expect(linesOf(value, firstUnfolded(value))).toHaveLength(1);
    expect(other.slice(value.start, value.end)).toBe(other);
  });
});

describe('at first', () => {
  const linesOfText = (text: string) => {
    const root = jsonTree(text)!;
    return linesOf(root, firstUnfolded(root));
  };

  it('a small document is unfolded', () => {
    expect(linesOfText('{"a":{"b":[1,{"c":2}]}}').map(({ part }) => part)).toEqual([
      ...['value', 'value', 'value', 'value', 'value', 'value'],
      ...['end', 'end', 'end', 'end'],
    ]);
  });

  it('a long list within a document is folded, and one on its own shows its beginning', () => {
    const list = JSON.stringify(Array<number>(30_000).fill(1));
    expect(linesOfText(`{"list":${list},"z":1}`)).toHaveLength(4);
    const lines = linesOfText(list);
    expect(lines).toHaveLength(STEP + 3);
    expect(lines.at(-2)).toMatchObject({ part: 'rest' });
  });

  it('deeply nested values are folded', () => {
    expect(linesOfText('['.repeat(10_000) + ']'.repeat(10_000)).length).toBeLessThan(20);
  });
});
