import { Marked } from 'marked';

/** The anchor of a heading, as GitHub builds it. @param {string} heading */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/**
 * Renders a document for readers outside the repository as HTML. Links to other files of the repository become plain
 * text. @param {string} markdown
 */
export function guideOf(markdown) {
  /** @type {string[]} */
  const links = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, text, depth }) {
        const inner = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${inner}</h1>\n`;
        const anchor = anchorOf(text);
        if (depth <= 3)
          links.push(`<li class="level-${depth}"><a href="#${anchor}">${inner}</a></li>`);
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${inner}</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        return /^(#|https:)/.test(href) ? `<a href="${href}">${inner}</a>` : inner;
      },
      // Content wider than a phone scrolls on its own, also by keyboard.
      code: ({ text }) => `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`,
    },
    hooks: {
      postprocess: (html) =>
        html
          .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
          .replaceAll('</table>', '</table></div>'),
    },
  });
  const text = marked.parse(markdown, { async: false });
  return { text, contents: `<ol>${links.join('')}</ol>` };
}

/** @param {string} text */
const escaped = (text) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
