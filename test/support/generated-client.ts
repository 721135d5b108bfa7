import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { pythonOf, requirePython } from '#tools/python';
import { ROOT } from '#tools/settings';
import { createUser } from './accounts.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import { send } from './http.js';
import { apiInProcess, type InProcess } from './in-process.js';

const CLIENTS = join(ROOT, 'test/release/clients');
const REQUIREMENTS = 'test/release/requirements.txt';
/** The virtual environment of the generators. */
export const PYTHON = pythonOf(REQUIREMENTS);

await requirePython(REQUIREMENTS);

/** The output of every program in `test/release/clients` on success. */
const EXPECTED = {
  applications: 1,
  name: 'Shop 2',
  voiceUrl: 'https://shop.example.com/voice',
  webhooks: 1,
  label: 'Billing',
  // A change of the name left these unchanged.
  signature: 'ed25519',
  schedule: [10, 60],
  headers: { 'X-Api-Key': '***' },
  payload: { order: 4711 },
  deliveries: 1,
  // The second event names an unknown application.
  batch: [1, 'validation_failed'],
  refusal: 'not_found',
};

/** A running API, and a folder for each client generated from its description. */
export class GeneratedClients {
  private constructor(
    private readonly database: TestDatabase,
    private readonly api: InProcess,
    private readonly dir: string,
    private readonly platform: string,
  ) {}

  static async start(): Promise<GeneratedClients> {
    const database = await createTestDatabase();
    const api = await apiInProcess({ DATABASE_URL: database.url });
    const dir = await mkdtemp(join(tmpdir(), 'clients-'));
    const { auth } = await createUser(database, 'switch', 'platform');
    const clients = new GeneratedClients(database, api, dir, auth);
    await writeFile(clients.description, (await send('GET', `${api.url}/openapi.json`)).text);
    return clients;
  }

  get description(): string {
    return join(this.dir, 'openapi.json');
  }

  get url(): string {
    return this.api.url;
  }

  /** A user's username and password, separated by a colon. */
  async loginOf(role: 'account' | 'platform'): Promise<string> {
    return (await createUser(this.database, `${role}-${Date.now()}`, role)).auth;
  }

  /** Runs openapi-generator in the Java that comes with it. */
  generate(generator: string, ...args: string[]): Promise<string> {
    const from = ['generate', '-i', this.description, '-g', generator];
    return run(join(PYTHON, 'bin/openapi-generator-cli'), [...from, ...args]);
  }

  /** Writes a TypeScript client by `generate`, compiles it with its program, and runs that. */
  async tryTypeScript(program: string, generate: (to: string) => Promise<unknown>): Promise<void> {
    const dir = await this.folderOf(program);
    await generate(join(dir, 'generated'));
    await writeFile(join(dir, 'package.json'), '{"type":"module"}');
    await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
    const options = {
      ...{ target: 'es2023', lib: ['es2023', 'dom', 'dom.iterable'], types: ['node'] },
      ...{ module: 'esnext', moduleResolution: 'bundler', strict: true, skipLibCheck: true },
      ...{ outDir: 'out', rootDir: '.', noEmitOnError: true },
    };
    const config = JSON.stringify({ compilerOptions: options, files: [program] });
    await writeFile(join(dir, 'tsconfig.json'), config);
    await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', dir]);
    // Like a bundler, it may omit the extensions that Node.js requires.
    const output = join(dir, 'out', program.replace(/ts$/, 'js'));
    await this.expectProgram(process.execPath, ['--import', EXTENSIONS, output]);
  }

  /** The same with a Java client that is a Maven project. */
  async tryJava(program: string, generate: (to: string) => Promise<unknown>): Promise<void> {
    const dir = await this.folderOf(program);
    const project = join(dir, 'generated');
    await generate(project);
    await cp(join(dir, program), join(project, 'src/main/java', program));
    const classpath = join(dir, 'classpath');
    const compile = ['compile', 'dependency:build-classpath', `-Dmdep.outputFile=${classpath}`];
    await run('mvn', ['-q', '-B', '-f', project, ...compile]);
    const classes = `${join(project, 'target/classes')}:${await readFile(classpath, 'utf8')}`;
    await this.expectProgram('java', ['-cp', classes, program.replace('.java', '')]);
  }

  /** The same with a Go client. @param modules what the client needs, with versions */
  async tryGo(
    program: string,
    modules: readonly string[],
    generate: (to: string) => Promise<unknown>,
  ): Promise<void> {
    const dir = await this.folderOf(program);
    const go = (...args: string[]) => run('go', ['-C', dir, ...args]);
    await mkdir(join(dir, 'generated'));
    await generate(join(dir, 'generated/client.go'));
    await go('mod', 'init', 'example');
    await go('get', ...modules);
    await go('build', '-o', 'client', program);
    await this.expectProgram(join(dir, 'client'), []);
  }

  /** The same with a Python client. @param python its virtual environment */
  async tryPython(
    program: string,
    python: string,
    generate: (to: string) => Promise<unknown>,
  ): Promise<void> {
    const dir = await this.folderOf(program);
    await generate(join(dir, 'generated'));
    const interpreter = join(python, 'bin/python');
    await run(interpreter, ['-m', 'compileall', '-q', dir]);
    await this.expectProgram(interpreter, [join(dir, program)]);
  }

  async stop(): Promise<void> {
    await this.api.stop();
    await this.database.drop();
    await rm(this.dir, { recursive: true });
  }

  private async folderOf(program: string): Promise<string> {
    const dir = join(this.dir, program.replace('.', '-'));
    await mkdir(dir);
    await cp(join(CLIENTS, program), join(dir, program));
    return dir;
  }

  private async expectProgram(command: string, args: string[]): Promise<void> {
    const { auth } = await createUser(this.database, `customer-${Date.now()}`);
    const output = await run(command, [...args, this.api.url, auth, this.platform]);
    expect(JSON.parse(output)).toEqual(EXPECTED);
  }
}

/** Resolves imports without extensions, and imports of folders. */
const EXTENSIONS = `data:text/javascript,${encodeURIComponent(`
  import { register } from 'node:module';
  register('data:text/javascript,' + encodeURIComponent(\`
    export async function resolve(specifier, context, next) {
      for (const end of ['', '.js', '/index.js']) {
        try { return await next(specifier + end, context); } catch (error) {
          if (!specifier.startsWith('.') || end === '/index.js') throw error;
        }
      }
    }\`));
`)}`;

const execute = promisify(execFile);

/** The output of a program. @throws Error with all of its output on failure */
export async function run(command: string, args: string[], env = {}): Promise<string> {
  try {
    // Some leave caches in their working directory.
    const options = { cwd: tmpdir(), env: { ...process.env, ...env }, maxBuffer: 1 << 28 };
    return (await execute(command, args, options)).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} failed: ${stdout.slice(-4_000)}${stderr.slice(-4_000)}`, {
      cause: error,
    });
  }
}
