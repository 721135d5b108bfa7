import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

it('the types of the client match the API description (`npm run client:generate`)', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'switchhook-client-'));
  try {
    const file = join(directory, 'api.ts');
    await promisify(execFile)(process.execPath, ['tools/client-types.mjs', file], { cwd: ROOT });
    const kept = await readFile(join(ROOT, 'libs/client/src/api.generated.ts'), 'utf8');
    expect(kept).toBe(await readFile(file, 'utf8'));
  } finally {
    await rm(directory, { recursive: true });
  }
});
