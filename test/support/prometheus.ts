import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answersOk, freePort } from '#tools/net';
import type { Programs } from '#tools/programs';
import { ROOT } from '#tools/settings';

const READY_MS = 30_000;
const RULES = join(ROOT, 'tools/monitoring/alerts.yml');
const FOR_S = 1;

/** An alert that fires. */
export interface FiringAlert {
  labels: Record<string, string>;
  /** Since when its condition holds. */
  activeAt: Date;
}

/**
 * A Prometheus with our alert rules, which scrapes and evaluates every second. An alert fires a second after its condition
 * holds, whatever its `for` says.
 */
export class Prometheus {
  private constructor(
    private readonly url: string,
    /** What `for` says, by alert, in seconds. */
    private readonly waits: ReadonlyMap<string, number>,
  ) {}

  /** @param jobs the addresses of metrics by job @param replaced what is replaced in the rules */
  static async start(
    dir: string,
    programs: Programs,
    jobs: Readonly<Record<string, readonly string[]>>,
    replaced: readonly [what: string, by: string][] = [],
  ): Promise<Prometheus> {
    await mkdir(dir, { recursive: true });
    const rules = await readFile(RULES, 'utf8');
    const waits = new Map<string, number>();
    for (const rule of rules.split('- alert: ').slice(1)) {
      const [, amount = '0', unit] = /\n +for: (\d+)([sm])\n/.exec(rule) ?? [];
      waits.set(rule.slice(0, rule.indexOf('\n')), Number(amount) * (unit === 'm' ? 60 : 1));
    }
    const quick = replaced.reduce(
      (text, [what, by]) => text.replaceAll(what, by),
      rules.replace(/(\n +for: )\d+[sm]/g, (_, before: string) => `${before}${String(FOR_S)}s`),
    );
    await writeFile(join(dir, 'alerts.yml'), quick);
    const scrape_configs = Object.entries(jobs).map(([job_name, urls]) => ({
      job_name,
      static_configs: [{ targets: urls.map((url) => new URL(url).host) }],
    }));
    const global = { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' };
    // JSON is YAML.
    const config = JSON.stringify({ global, rule_files: ['alerts.yml'], scrape_configs });
    await writeFile(join(dir, 'prometheus.yml'), config);
    const address = `127.0.0.1:${String(await freePort())}`;
    const program = programs.start('prometheus', 'prometheus', [
      `--config.file=${join(dir, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=${address}`,
    ]);
    await program.ready(() => answersOk(`http://${address}/-/ready`), READY_MS);
    return new Prometheus(`http://${address}`, waits);
  }

  /** The alerts of that name that fire. */
  async firing(name: string): Promise<FiringAlert[]> {
    const { data } = await this.get<{
      data: { alerts: { labels: Record<string, string>; state: string; activeAt: string }[] };
    }>('/api/v1/alerts');
    return data.alerts
      .filter(({ labels, state }) => labels.alertname === name && state === 'firing')
      .map(({ labels, activeAt }) => ({ labels, activeAt: new Date(activeAt) }));
  }

  /** How long an alert's condition has to hold, in seconds. @throws Error for an unknown alert */
  waitOf(name: string): number {
    const wait = this.waits.get(name);
    if (wait === undefined) throw new Error(`there is no alert ${name}`);
    return wait;
  }

  private async get<Answer>(path: string): Promise<Answer> {
    return (await fetch(this.url + path)).json() as Promise<Answer>;
  }
}
