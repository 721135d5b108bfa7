const IS_HTML =
  /^\s*<(?:!doctype html|(?:html|head|body|title|h[1-6]|p|div|center|pre|table)[\s>])/i;
const TAG = /^<(\/?)[!?]?([a-z][a-z\d]*|--)/;
const UNREADABLE = new Set(['script', 'style', 'svg', 'template']);
const INLINE = new Set(
  'a abbr b bdi code em font i kbd mark s small span strong sub sup u'.split(' '),
);
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos|nbsp|copy));/gi;
const NAMED: Record<string, string> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', copy: '©' },
};

/**
 * The text that a person would read on a page, such as a proxy's error page; undefined if it is not HTML. It runs in
 * linear time. It avoids the browser's parser, because strangers wrote the text.
 */
export function htmlText(html: string): string | undefined {
  if (!IS_HTML.test(html)) return undefined;
  // `toLowerCase` changes the length of some letters.
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  let text = '';
  let at = 0;
  for (;;) {
    const tag = lower.indexOf('<', at);
    if (tag < 0) break;
    text += html.slice(at, tag);
    const [, slash, name] = TAG.exec(lower.slice(tag, tag + 16)) ?? [];
    if (name === undefined) {
      text += '<';
      at = tag + 1;
      continue;
    }
    const isSkipped = slash === '' && UNREADABLE.has(name);
    const end = name === '--' ? '-->' : isSkipped ? `</${name}` : '>';
    const found = lower.indexOf(end, tag + 1);
    at = found < 0 ? html.length : isSkipped ? found : found + end.length;
    text += name === 'td' || name === 'th' ? ' ' : INLINE.has(name) || name === '--' ? '' : '\n';
  }
  text += html.slice(at);
  const lines = text
    .replace(ENTITY, (_, decimal?: string, hex?: string, named: string = '') =>
      named === '' ? charOf(Number(decimal ?? `0x${hex}`)) : NAMED[named.toLowerCase()]!,
    )
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '');
  // The title often repeats the heading.
  return lines.filter((line, index) => line !== lines[index - 1]).join('\n') || undefined;
}

const charOf = (code: number): string => (code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code));
