import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));
const INDEX = 'docs/README.md';

const read = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8');

const docs = readdirSync(join(REPOSITORY, 'docs'), { recursive: true })
  .map((path) => join('docs', String(path)))
  .filter((path) => path.endsWith('.md'))
  .sort();

/** A page without its code, where a bracket is no link and a # is no heading. */
const proseOf = (path: string): string =>
  read(path)
    .replaceAll(/^(`{3,})[^]*?^\1$/gm, '')
    .replaceAll(/^ {4}.*$/gm, '');

interface Link {
  text: string;
  /** Relative to the root of the repository. */
  path: string;
  anchor: string;
}

/** The links of a page to files in the repository. */
function linksOf(page: string): Link[] {
  return [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, text = '']) => text)
    .filter((text) => !/^[a-z]+:/.test(text))
    .map((text) => {
      const [path = '', anchor = ''] = text.split('#');
      return { text, path: path === '' ? page : normalize(join(dirname(page), path)), anchor };
    });
}

/** The anchors of a page's headings, as GitHub builds them. */
function anchorsOf(page: string): string[] {
  const headings = [...proseOf(page).matchAll(/^#+ (.+)$/gm)];
  return headings.map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function isBroken({ path, anchor }: Link): boolean {
  if (!existsSync(join(REPOSITORY, path))) return true;
  return anchor !== '' && !anchorsOf(path).includes(anchor);
}

describe('the documents', () => {
  it.each(['README.md', 'tools/kubernetes/README.md', ...docs])(
    'have no broken link: %s',
    (page) => {
      const broken = linksOf(page).filter(isBroken);
      expect(broken.map(({ text }) => text)).toEqual([]);
    },
  );

  it('are all linked from their index, directly or through other pages', () => {
    const reached = new Set([INDEX]);
    for (const page of reached) {
      for (const { path } of linksOf(page)) if (docs.includes(path)) reached.add(path);
    }
    expect(docs.filter((page) => !reached.has(page))).toEqual([]);
  });

  it.each(docs.filter((page) => page !== 'docs/CHANGELOG.md'))(
    'can be read in fifteen minutes: %s',
    (page) => {
      const words = read(page)
        .split(/\s+/)
        .filter((word) => /\w/.test(word));
      expect(words.length).toBeLessThanOrEqual(3_000);
    },
  );

  it('start with a README of at most 150 lines', () => {
    expect(read('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  });
});

it('the alerts page has one section for every alert, and the alert links to it', () => {
  const page = 'docs/operating/alerts.md';
  const rules = read('tools/monitoring/alerts.yml');
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name.toLowerCase());
  const runbooks = [...rules.matchAll(/runbook: (\S+)/g)].map(([, runbook]) => runbook);
  expect(alerts.length).toBeGreaterThan(0);
  expect(runbooks).toEqual(alerts.map((alert) => `${page}#${alert}`));
  const sections = anchorsOf(page).filter((anchor) => anchor.startsWith('switchhook'));
  expect(sections).toEqual(alerts);
});

it('the pages on monitoring and logs have every line of the logs of API and worker', () => {
  const sources = ['libs', 'apps/api', 'apps/worker'].flatMap((folder) =>
    readdirSync(join(REPOSITORY, folder), { recursive: true })
      .map((path) => join(folder, String(path)))
      .filter((path) => /(?<!\.(?:spec|int-spec|fake|contract))\.ts$/.test(path)),
  );
  const CALL = /\blog\.(?:info|warn|error)\((?:[^()]|\([^()]*\))*?['"]([^'"\n]+)['"],?\s*\)/gi;
  const lines = sources.flatMap((path) =>
    [...read(path).matchAll(CALL)].map(([, line = '']) => line),
  );
  expect(lines.length).toBeGreaterThan(20);
  const pages = read('docs/operating/monitor.md') + read('docs/operating/logs.md');
  expect(lines.filter((line) => !pages.includes(`\`${line}\``))).toEqual([]);
});
