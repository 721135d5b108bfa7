import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

it("the diagram of an event's path names only classes that exist", () => {
  const page = readFileSync(`${REPOSITORY}docs/developing.md`, 'utf8');
  const [, picture = ''] = /```mermaid\n(.*?)```/s.exec(page) ?? [];
  const withoutLabels = picture.replaceAll(/"[^"]*"/g, '');
  const drawn = new Set(withoutLabels.match(/\b[A-Z]\w+/g)?.filter((word) => word !== 'TB'));
  const code = readdirSync(`${REPOSITORY}libs`, { recursive: true })
    .map(String)
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(`${REPOSITORY}libs/${path}`, 'utf8'))
    .join();
  const missing = [...drawn].filter((name) => !code.includes(`export class ${name} `));
  expect([drawn.size > 5, missing]).toEqual([true, []]);
});
