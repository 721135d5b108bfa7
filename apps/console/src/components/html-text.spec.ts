import { expect, it } from 'vitest';
import { htmlText } from './html-text.js';

it('reads the error page of a proxy', () => {
  const page = `<html>\r
<head><title>502 Bad Gateway</title><style>h1 { color: red }</style></head>\r
<body><!-- <p>hidden</p> -->
<center><h1>502 Bad Gateway</h1></center>
<hr><center>nginx/1.27 &amp; <b>more</b> &#169; &#x3C;</center><SCRIPT>alert("</p>")</SCRIPT>
</body></html>`;
  expect(htmlText(page)).toBe('502 Bad Gateway\nnginx/1.27 & more © <');
});

it.each(['plain text', '{"a":"<p>"}', '<?xml version="1.0"?><a/>', '<html></html>', '<p>'])(
  'finds no text in %s',
  (text) => {
    expect(htmlText(text)).toBeUndefined();
  },
);

it('keeps text that only looks like a tag', () => {
  expect(htmlText('<p>1 < 2 & 3 > 2</p>')).toBe('1 < 2 & 3 > 2');
});

it.each(['<!--', '<script>', '<p', '<', '</script', '&#'])(
  'ends soon on 100,000 times %s',
  (piece) => {
    const before = performance.now();
    htmlText(`<p>a${piece.repeat(100_000)}`);
    expect(performance.now() - before).toBeLessThan(1_000);
  },
);
