import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '#tools/settings';

const MONITORING = join(ROOT, 'tools/monitoring');
const REQUESTS = 'http_server_request_duration_seconds';

function promtool(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

it('promtool accepts the configuration of Prometheus, and the alert rules in it', () => {
  const { status, output } = promtool('check', 'config', join(MONITORING, 'prometheus.yml'));
  expect([status, output]).toEqual([0, expect.stringContaining('rules found') as string]);
});

/** Samples of a minute each, and whether the alert fires after a quarter of an hour. */
it.each([
  ['SwitchhookNoApi', { 'up{job="switchhook-api"}': '0x20' }, true],
  ['SwitchhookNoApi', { 'up{job="switchhook-worker"}': '1x20' }, true],
  ['SwitchhookNoApi', { 'up{job="switchhook-api",instance="b"}': '1x20' }, false],
  ['SwitchhookServerErrors', requests({ 200: 980, 503: 20 }), true],
  ['SwitchhookServerErrors', requests({ 200: 995, 503: 5, 404: 900 }), false],
  ['SwitchhookSlowAnswers', durations({ '0.5': 980, '2.5': 1_000, '+Inf': 1_000 }), true],
  ['SwitchhookSlowAnswers', durations({ '0.5': 995, '2.5': 1_000, '+Inf': 1_000 }), false],
])('%s for %j: %s', (alert, samples, fires) => {
  const dir = mkdtempSync(join(tmpdir(), 'alerts-'));
  const input_series = Object.entries(samples).map(([series, values]) => ({ series, values }));
  const exp = { expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`, eval_time: '15m' };
  const exp_samples = fires ? [{ labels: '{}', value: 1 }] : [];
  const tests = [{ interval: '1m', input_series, promql_expr_test: [{ ...exp, exp_samples }] }];
  const rules = { rule_files: [join(MONITORING, 'alerts.yml')], evaluation_interval: '1m', tests };
  // JSON is YAML.
  writeFileSync(join(dir, 'test.yml'), JSON.stringify(rules));
  const { status, output } = promtool('test', 'rules', join(dir, 'test.yml'));
  rmSync(dir, { recursive: true });
  expect([status, output]).toEqual([0, expect.stringContaining('SUCCESS') as string]);
});

/** So many more requests in each minute, by status. */
function requests(statuses: Record<number, number>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(statuses).map(([status, count]) => [
      `${REQUESTS}_count{http_response_status_code="${status}"}`,
      `0+${count}x20`,
    ]),
  );
}

function durations(buckets: Record<string, number>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(buckets).map(([le, count]) => [
      `${REQUESTS}_bucket{le="${le}"}`,
      `0+${count}x20`,
    ]),
  );
}
