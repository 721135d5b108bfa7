import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { requireProgram } from '#tools/apt';
import { ROOT } from '#tools/settings';

const MONITORING = join(ROOT, 'tools/monitoring');
const REQUESTS = 'http_server_request_duration_seconds';

await requireProgram('promtool', 'prometheus');

function promtool(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

it('promtool accepts the configuration of Prometheus, and the alert rules in it', () => {
  const { status, output } = promtool('check', 'config', join(MONITORING, 'prometheus.yml'));
  expect([status, output]).toEqual([0, expect.stringContaining('rules found') as string]);
});

/** A sample every 15 s, and whether the alert fires after a quarter of an hour. */
const CASES: [alert: string, samples: Record<string, string>, fires: boolean][] = [
  ['SwitchhookNoWorker', { 'up{job="switchhook-api"}': '1x60' }, true],
  ['SwitchhookNoWorker', { switchhook_oldest_due_age_seconds: '0x60' }, false],
  ['SwitchhookClaimsLost', { switchhook_expired_claims_total: '0+60x60' }, true],
  ['SwitchhookClaimsLost', { switchhook_expired_claims_total: '0+6x60' }, false],
  ['SwitchhookSecretsUnread', { switchhook_unreadable_secrets_total: '0x30 1x30' }, true],
  ['SwitchhookSecretsUnread', { switchhook_unreadable_secrets_total: '1x60' }, false],
  ['SwitchhookTaskFails', lastSuccess('-10x60'), true],
  ['SwitchhookTaskFails', lastSuccess('0+15x60'), false],
  [
    'SwitchhookEventLoopDelay',
    { 'nodejs_eventloop_lag_p99_seconds{instance="a"}': '0.3x60' },
    true,
  ],
  [
    'SwitchhookEventLoopDelay',
    { 'nodejs_eventloop_lag_p99_seconds{instance="a"}': '0.2x60' },
    false,
  ],
  ['SwitchhookNoApi', { 'up{job="switchhook-api"}': '0x60' }, true],
  ['SwitchhookNoApi', { 'up{job="switchhook-worker"}': '1x60' }, true],
  ['SwitchhookNoApi', { 'up{job="switchhook-api",instance="b"}': '1x60' }, false],
  ['SwitchhookServerErrors', requests({ 200: 980, 503: 20 }), true],
  ['SwitchhookServerErrors', requests({ 200: 995, 503: 5, 404: 900 }), false],
  ['SwitchhookOutcomesRefused', { switchhook_refused_outcomes_total: '0x30 1x30' }, true],
  ['SwitchhookOutcomesRefused', { switchhook_refused_outcomes_total: '1x60' }, false],
  ['SwitchhookHostShortage', shortages('0+1x60'), true],
  ['SwitchhookHostShortage', shortages('7x60'), false],
  ['SwitchhookDeliveriesLate', { switchhook_oldest_startable_age_seconds: '0+15x60' }, true],
  ['SwitchhookDeliveriesLate', { switchhook_oldest_due_age_seconds: '0+15x60' }, false],
  ['SwitchhookOwnFaults', { 'switchhook_own_faults_total{fault="proxy"}': '0+1x60' }, true],
  ['SwitchhookOwnFaults', { 'switchhook_own_faults_total{fault="proxy"}': '7x60' }, false],
  ['SwitchhookSlotsUsedUp', { switchhook_slots: '400x60', switchhook_slots_used: '350x60' }, true],
  ['SwitchhookSlotsUsedUp', { switchhook_slots: '400x60', switchhook_slots_used: '330x60' }, false],
  ['SwitchhookNoAnswers', attempts({ '2xx': 40, timeout: 60 }), true],
  ['SwitchhookNoAnswers', attempts({ '2xx': 60, '5xx': 40, refused: 20 }), false],
  ['SwitchhookSeveralPrimaries', { switchhook_database_primaries: '2x60' }, true],
  ['SwitchhookSeveralPrimaries', { switchhook_database_primaries: '1x60' }, false],
  ['SwitchhookNotSynchronous', { switchhook_database_synchronous: '1x20 0x40' }, true],
  ['SwitchhookNotSynchronous', { switchhook_database_synchronous: '1x60' }, false],
  ['SwitchhookNotSynchronous', { switchhook_database_synchronous: '0x60' }, false],
  ['SwitchhookClockOffset', { switchhook_clock_offset_seconds: '-6x60' }, true],
  ['SwitchhookClockOffset', { switchhook_clock_offset_seconds: '-4x60' }, false],
  ['SwitchhookSlowAnswers', durations({ '0.5': 980, '2.5': 1_000, '+Inf': 1_000 }), true],
  ['SwitchhookSlowAnswers', durations({ '0.5': 995, '2.5': 1_000, '+Inf': 1_000 }), false],
];
it.each(CASES)('%s for %j: %s', (alert, samples, fires) => {
  expectAlert(alert, samples, { '15m': fires });
});

it('SwitchhookHold fires within two minutes, also if the hold ends and begins again, and ends after it', () => {
  const never = { '3m': false, '4m': false };
  // From the fifth minute on.
  const from = (samples: string) => ({ 'switchhook_hold{instance="a"}': `0x19 ${samples} 0x20` });
  const fires = { ...never, '6m45s': true, '9m': true, '12m': false };
  expectAlert('SwitchhookHold', from('1x20'), fires);
  expectAlert('SwitchhookHold', from('1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1 1 0 1 1'), fires);
});

/** An outage of ten minutes, and five minutes after it. */
const OUTAGE = '0+10x40 400x20';

it.each([
  [
    'SwitchhookServerErrors',
    { ...requests({ 200: 100 }), [`${REQUESTS}_count{http_response_status_code="503"}`]: OUTAGE },
  ],
  ['SwitchhookDatabaseErrors', { switchhook_database_errors_total: OUTAGE }],
  ['SwitchhookRedisErrors', { switchhook_redis_errors_total: OUTAGE }],
])('%s ends within 75 s after the outage', (alert, samples) => {
  expectAlert(alert, samples, { '4m': false, '6m': true, '10m': true, '11m15s': false });
});

it('fires each alert at least once', () => {
  const rules = readFileSync(join(MONITORING, 'alerts.yml'), 'utf8');
  const names = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  const fired = CASES.flatMap(([name, , fires]) => (fires ? [name] : []));
  const others = ['SwitchhookHold', 'SwitchhookDatabaseErrors', 'SwitchhookRedisErrors'];
  expect(names.filter((name) => ![...fired, ...others].includes(name!))).toEqual([]);
});

it.each([
  ['SwitchhookDatabaseErrors', 'switchhook_database_errors_total'],
  ['SwitchhookRedisErrors', 'switchhook_redis_errors_total'],
])('%s does not fire after an outage of three minutes', (alert, series) => {
  const times = ['3m', '5m', '6m', '7m', '8m', '9m'];
  const never = Object.fromEntries(times.map((time) => [time, false]));
  expectAlert(alert, { [series]: '0+10x12 120x40' }, never);
});

/** @param fires whether it fires at each time after the first sample */
function expectAlert(
  alert: string,
  samples: Record<string, string>,
  fires: Record<string, boolean>,
): void {
  const dir = mkdtempSync(join(tmpdir(), 'alerts-'));
  const input_series = Object.entries(samples).map(([series, values]) => ({ series, values }));
  const expr = `count(ALERTS{alertname="${alert}",alertstate="firing"})`;
  const promql_expr_test = Object.entries(fires).map(([eval_time, isFiring]) => ({
    expr,
    eval_time,
    exp_samples: isFiring ? [{ labels: '{}', value: 1 }] : [],
  }));
  const tests = [{ interval: '15s', input_series, promql_expr_test }];
  const rules = { rule_files: [join(MONITORING, 'alerts.yml')], evaluation_interval: '15s', tests };
  // JSON is YAML.
  writeFileSync(join(dir, 'test.yml'), JSON.stringify(rules));
  const { status, output } = promtool('test', 'rules', join(dir, 'test.yml'));
  rmSync(dir, { recursive: true });
  expect([status, output]).toEqual([0, expect.stringContaining('SUCCESS') as string]);
}

/** So many more requests with each sample, by status. */
function requests(statuses: Record<number, number>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(statuses).map(([status, count]) => [
      `${REQUESTS}_count{http_response_status_code="${status}"}`,
      `0+${count}x60`,
    ]),
  );
}

function attempts(outcomes: Record<string, number>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(outcomes).map(([outcome, count]) => [
      `switchhook_attempts_total{outcome="${outcome}"}`,
      `0+${count}x60`,
    ]),
  );
}

function lastSuccess(samples: string): Record<string, string> {
  return { 'switchhook_task_last_success_timestamp_seconds{task="losses"}': samples };
}

function shortages(samples: string): Record<string, string> {
  return { 'switchhook_host_shortages_total{instance="a",code="EMFILE"}': samples };
}

function durations(buckets: Record<string, number>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(buckets).map(([le, count]) => [
      `${REQUESTS}_bucket{le="${le}"}`,
      `0+${count}x60`,
    ]),
  );
}
