import { readFileSync } from 'node:fs';
import { Marked } from 'marked';

/** The documents of the guide, by their addresses below `/docs`. @type {Record<string, string>} */
const DOCUMENTS = Object.fromEntries(
  ['', '/notifications', '/subscriptions', '/finding', '/feed'].map((name) => [
    `receiving${name}`,
    `/docs/receiving${name}.md`,
  ]),
);

/** The anchor of a heading, as GitHub builds it. @param {string} heading */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/**
 * @typedef {{ depth: number, anchor: string, inner: string }} Heading
 * @typedef {{ address: string, title: string, text: string, headings: Heading[] }} GuidePage
 */

/** The pages of the guide, the first one first. */
export function guidePages() {
  return Object.entries(DOCUMENTS).map(([address, document]) => pageOf(address, document));
}

/**
 * Renders a document for readers outside the repository as HTML. Links to files that are not part of the guide become
 * plain text. @param {string} address @param {string} document @returns {GuidePage}
 */
function pageOf(address, document) {
  const markdown = readFileSync(new URL(`../..${document}`, import.meta.url), 'utf8');
  let title = '';
  /** @type {Heading[]} */
  const headings = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, text, depth }) {
        const inner = this.parser.parseInline(tokens);
        if (depth === 1) {
          title = inner;
          return `<h1>${inner}</h1>\n`;
        }
        const anchor = anchorOf(text);
        headings.push({ depth, anchor, inner });
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${inner}</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const target = /^(#|https:)/.test(href) ? href : addressOf(href, document);
        return target === undefined ? inner : `<a href="${target}">${inner}</a>`;
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
  return { address, title, text, headings };
}

/**
 * Where a link of a document leads if it leads to a page of the guide, from the root of `/docs`.
 * @param {string} href @param {string} document
 */
function addressOf(href, document) {
  const { pathname, hash } = new URL(href, `file://${document}`);
  const found = Object.entries(DOCUMENTS).find(([, each]) => each === pathname);
  return found && `./${found[0]}${hash}`;
}

/** The list of all pages, for one of them. @param {GuidePage[]} pages @param {GuidePage} current */
export function listOf(pages, current) {
  const items = pages.map(({ address, title }) => {
    const mark = address === current.address ? ' aria-current="page"' : '';
    return `<li><a href="./${address}"${mark}>${title}</a></li>`;
  });
  return `<ol>${items.join('')}</ol>`;
}

/** The contents of a page. @param {GuidePage} page */
export function contentsOf({ headings }) {
  const items = headings
    .filter(({ depth }) => depth <= 3)
    .map(
      ({ depth, anchor, inner }) =>
        `<li class="level-${depth}"><a href="#${anchor}">${inner}</a></li>`,
    );
  return `<ol>${items.join('')}</ol>`;
}

/**
 * The headings of the other pages, for the end of the first one. It was the only page until 2.0, so the anchors of
 * all headings keep leading somewhere. @param {GuidePage[]} pages
 */
export function indexOf([first, ...others]) {
  const taken = new Set(first?.headings.map(({ anchor }) => anchor));
  const items = others.flatMap(({ address, headings }) =>
    headings
      .filter(({ anchor }) => !taken.has(anchor))
      .map(
        ({ anchor, inner }) =>
          `<li id="${anchor}"><a href="./${address}#${anchor}">${inner}</a></li>`,
      ),
  );
  return `<ul class="index">${items.join('')}</ul>`;
}

/** @param {string} text */
const escaped = (text) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
