import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HEAP_LIMITS, ROOT } from '#tools/settings';

const UNITS = join(ROOT, 'tools/systemd');
const units = readdirSync(UNITS);

/** The settings of a unit. Each name that stands several times has all its values. */
function settingsOf(unit: string): Record<string, string[]> {
  const lines = readFileSync(join(UNITS, unit), 'utf8').split('\n');
  const settings: Record<string, string[]> = {};
  for (const line of lines.filter((text) => /^\w+=/.test(text))) {
    const [name = '', ...value] = line.split('=');
    settings[name] = [...(settings[name] ?? []), value.join('=')];
  }
  return settings;
}

it('there is a systemd unit for the API and one for the worker', () => {
  expect(units).toEqual(['switchhook-api.service', 'switchhook-worker.service']);
});

describe.each(['api', 'worker'])('the systemd unit of the %s', (name) => {
  const settings = settingsOf(`switchhook-${name}.service`);

  it('runs a program of the build, with a limited heap', () => {
    const [, limit, program] = settings['ExecStart']![0]!.split(' ');
    expect(limit).toBe(HEAP_LIMITS);
    expect(program).toBe(`dist/apps/${name}/src/main.js`);
    expect(existsSync(join(ROOT, program!.replace(/^dist\/(.*)\.js$/, '$1.ts')))).toBe(true);
  });

  it('lets the process open as many files as docker compose does', () => {
    const [, ofCompose] = /nofile: (\d+)/.exec(
      readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'),
    )!;
    expect(settings['LimitNOFILE']).toEqual([ofCompose]);
  });

  it('confines the process as the containers do', () => {
    expect(settings).toMatchObject({
      NoNewPrivileges: ['true'],
      CapabilityBoundingSet: [''],
      ProtectSystem: ['strict'],
      PrivateTmp: ['true'],
    });
  });

  it('gives it the environment and the time to stop that the pages promise', () => {
    expect(settings['EnvironmentFile']).toEqual([
      '/etc/switchhook/common.env',
      `/etc/switchhook/${name}.env`,
    ]);
    expect(Number(settings['TimeoutStopSec'])).toBeGreaterThanOrEqual(30);
  });
});
