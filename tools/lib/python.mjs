import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { canInstall, install, requireProgram } from './apt.mjs';
import { Problem } from './problem.mjs';
import { readText } from './processes.mjs';
import { ROOT } from './settings.mjs';
import { runTask } from './tasks.mjs';

/** The virtual environment of a list of packages. @param {string} list such as `test/release/requirements.txt` */
export const pythonOf = (list) => join(ROOT, 'node_modules/.cache/python', basename(list, '.txt'));

/** Creates {@link pythonOf} if it is missing. @param {string} list */
export async function requirePython(list) {
  const dir = pythonOf(list);
  const packages = join(ROOT, list);
  const mark = createHash('sha256').update(readFileSync(packages)).digest('hex');
  const stamp = join(dir, 'installed');
  if (readText(stamp) === mark) return;
  rmSync(dir, { recursive: true, force: true });
  await requireProgram('python3');
  const make = () => runTask('python3', ['-m', 'venv', dir]);
  // Debian packages this separately.
  if ((await make()).code !== 0 && canInstall())
    await install('python3', 'python3-venv').then(make);
  const pip = join(dir, 'bin/pip');
  if (!existsSync(pip)) throw new Problem('python3 cannot make virtual environments.');
  console.error(`installing the Python packages of ${list} …`);
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-input', '--no-deps'];
  const { code } = await runTask(pip, ['install', ...quiet, '-r', packages]);
  if (code !== 0) throw new Problem(`the Python packages of ${list} could not be installed.`);
  writeFileSync(stamp, mark);
}
