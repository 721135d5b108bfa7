import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, whyNotListen } from '#tools/net';
import type { Program, Programs } from '#tools/programs';
import { ROOT } from '#tools/settings';
import { certificate } from './certificate.js';

/** Where a proxy of a test listens and what is behind it, instead of what its example names. */
interface Places {
  dir: string;
  http: number;
  https: number;
}

interface Example {
  file: string;
  /** The example for a place of our own. */
  adapt: (text: string, places: Places) => string;
  command: (config: string, dir: string) => [string, ...string[]];
}

/** The examples in tools/proxies, by the name of the program. */
export const EXAMPLES = {
  haproxy: {
    file: 'haproxy.cfg',
    adapt: (text, { dir, http, https }) =>
      text
        .replace('bind :80\n', `bind 127.0.0.1:${http}\n`)
        .replace('bind :443 ', `bind 127.0.0.1:${https} `)
        .replace('/etc/haproxy/switchhook.pem', join(dir, 'both.pem')),
    command: (config) => ['haproxy', '-db', '-f', config],
  },
  nginx: {
    file: 'nginx.conf',
    adapt: (text, { dir, http, https }) => {
      const site = text
        .replace('listen 80;', `listen 127.0.0.1:${http};`)
        .replace('listen 443 ', `listen 127.0.0.1:${https} `)
        .replace('/etc/nginx/switchhook.crt', join(dir, 'cert.pem'))
        .replace('/etc/nginx/switchhook.key', join(dir, 'key.pem'));
      const user = process.getuid?.() === 0 ? 'user root;' : '';
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (kind) => `${kind}_temp_path ${join(dir, kind)};`,
      );
      return `${user} daemon off; pid ${join(dir, 'pid')}; error_log stderr; events {}
http { access_log off; ${temporary.join(' ')}\n${site}}\n`;
    },
    command: (config, dir) => ['nginx', '-p', dir, '-c', config],
  },
  caddy: {
    file: 'Caddyfile',
    adapt: (text, { dir, http, https }) =>
      text
        .replace('{\n', `{\n\tadmin off\n\thttp_port ${http}\n`)
        .replace(
          'api.example.com {',
          `https://localhost:${https} {\n\ttls ${join(dir, 'cert.pem')} ${join(dir, 'key.pem')}`,
        ),
    command: (config) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', config],
  },
} satisfies Record<string, Example>;

/** A proxy with one of the examples. */
export class ReverseProxy {
  private constructor(
    /** It has the certificate of localhost. */
    readonly url: string,
    private readonly program: Program,
  ) {}

  /** @param upstreams the ports of two API processes */
  static async start(
    name: keyof typeof EXAMPLES,
    upstreams: readonly [number, number],
    dir: string,
    programs: Programs,
  ): Promise<ReverseProxy> {
    const { file, adapt, command }: Example = EXAMPLES[name];
    const places = { dir, http: await freePort(), https: await freePort() };
    let text = adapt(readFileSync(join(ROOT, 'tools/proxies', file), 'utf8'), places);
    for (const [index, port] of upstreams.entries()) {
      text = text.replaceAll(`10.0.0.1${index + 1}:3000`, `127.0.0.1:${port}`);
    }
    const { cert, key } = certificate;
    for (const [pem, content] of Object.entries({ cert, key, both: `${cert}\n${key}` })) {
      writeFileSync(join(dir, `${pem}.pem`), content, { mode: 0o600 });
    }
    const config = join(dir, file);
    writeFileSync(config, text);
    const [program, ...args] = command(config, dir);
    const env = { PATH: process.env.PATH, HOME: dir };
    const started = programs.start(name, program, args, { cwd: dir, env });
    await started.ready(
      async () => (await whyNotListen(places.https, '127.0.0.1')) !== undefined,
      10_000,
    );
    return new ReverseProxy(`https://localhost:${places.https}`, started);
  }

  stop(): Promise<string> {
    return this.program.stop();
  }
}
