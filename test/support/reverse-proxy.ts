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
  program: string;
  /** Whether clients reach it. Another proxy is in front of one that does not. */
  terminatesTls: boolean;
  /** The example for a place of our own. */
  adapt: (text: string, places: Places) => string;
  arguments: (config: string, dir: string) => string[];
}

const PROXIES = join(ROOT, 'tools/proxies');
const ofHaproxy = (config: string): string[] => ['-db', '-f', config];

/** The examples in tools/proxies. */
export const EXAMPLES = {
  haproxy: {
    file: 'haproxy.cfg',
    program: 'haproxy',
    terminatesTls: true,
    adapt: (text, { dir, http, https }) =>
      text
        .replace('bind :80\n', `bind 127.0.0.1:${http}\n`)
        .replace('bind :443 ', `bind 127.0.0.1:${https} `)
        .replace('/etc/haproxy/switchhook.pem', join(dir, 'both.pem')),
    arguments: ofHaproxy,
  },
  groups: {
    file: 'groups.cfg',
    program: 'haproxy',
    terminatesTls: true,
    adapt: (text, { dir, https }) =>
      text
        .replace('bind :443 ', `bind 127.0.0.1:${https} `)
        .replace('/etc/haproxy/switchhook.pem', join(dir, 'both.pem'))
        .replaceAll('/etc/haproxy', PROXIES)
        .replaceAll(/api-(\d)\.group-\d\.internal/g, '10.0.0.1$1'),
    arguments: ofHaproxy,
  },
  compose: {
    file: 'compose.cfg',
    program: 'haproxy',
    terminatesTls: false,
    adapt: (text, { http }) =>
      text
        .replace('bind :3000', `bind 127.0.0.1:${http}`)
        // There are no containers to resolve.
        .replaceAll(
          /server-template .*/g,
          ['server api-1 10.0.0.11:3000', 'server api-2 10.0.0.12:3000'].join('\n    '),
        ),
    arguments: ofHaproxy,
  },
  nginx: {
    file: 'nginx.conf',
    program: 'nginx',
    terminatesTls: true,
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
    arguments: (config, dir) => ['-p', dir, '-c', config],
  },
  caddy: {
    file: 'Caddyfile',
    program: 'caddy',
    terminatesTls: true,
    adapt: (text, { dir, http, https }) =>
      text
        .replace('{\n', `{\n\tadmin off\n\thttp_port ${http}\n`)
        .replace(
          'api.example.com {',
          `https://localhost:${https} {\n\ttls ${join(dir, 'cert.pem')} ${join(dir, 'key.pem')}`,
        ),
    arguments: (config) => ['run', '--adapter', 'caddyfile', '--config', config],
  },
} satisfies Record<string, Example>;

/** A proxy with one of the examples. */
export class ReverseProxy {
  private constructor(
    /** With TLS, it has the certificate of localhost. */
    readonly url: string,
    /** Where it may listen without TLS. */
    readonly plainUrl: string,
    private readonly program: Program,
  ) {}

  /** @param upstreams the ports of two API processes */
  static async start(
    name: keyof typeof EXAMPLES,
    upstreams: readonly [number, number],
    dir: string,
    programs: Programs,
  ): Promise<ReverseProxy> {
    const example: Example = EXAMPLES[name];
    const { file, adapt, terminatesTls } = example;
    const places = { dir, http: await freePort(), https: await freePort() };
    let text = adapt(readFileSync(join(PROXIES, file), 'utf8'), places);
    for (const [index, port] of upstreams.entries()) {
      text = text.replaceAll(`10.0.0.1${index + 1}:3000`, `127.0.0.1:${port}`);
    }
    const { cert, key } = certificate;
    for (const [pem, content] of Object.entries({ cert, key, both: `${cert}\n${key}` })) {
      writeFileSync(join(dir, `${pem}.pem`), content, { mode: 0o600 });
    }
    const config = join(dir, file);
    writeFileSync(config, text);
    const args = example.arguments(config, dir);
    const env = { PATH: process.env.PATH, HOME: dir };
    const started = programs.start(name, example.program, args, { cwd: dir, env });
    const port = terminatesTls ? places.https : places.http;
    await started.ready(async () => (await whyNotListen(port, '127.0.0.1')) !== undefined, 10_000);
    const plainUrl = `http://localhost:${places.http}`;
    const url = terminatesTls ? `https://localhost:${places.https}` : plainUrl;
    return new ReverseProxy(url, plainUrl, started);
  }

  stop(): Promise<string> {
    return this.program.stop();
  }
}
