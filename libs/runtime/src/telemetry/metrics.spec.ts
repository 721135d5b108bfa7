import { AggregatorRegistry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import { Metrics } from './metrics.js';

const processes: Metrics[] = [];

/** The text of a metric for both processes. */
async function ofBoth(name: string): Promise<string> {
  const values = await Promise.all(processes.map((metrics) => metrics.registry.getMetricsAsJSON()));
  return AggregatorRegistry.aggregate(values).getSingleMetricAsString(name);
}

beforeEach(() => {
  processes.splice(0, 2, new Metrics(), new Metrics());
});

describe('the metrics of two processes', () => {
  it('adds what each process counts', async () => {
    for (const metrics of processes) metrics.gauge('active', 'Requests.', () => 2);
    for (const metrics of processes) metrics.counter('calls_total', 'Calls.').inc(3);
    expect(await ofBoth('active')).toMatch(/^active 4$/m);
    expect(await ofBoth('calls_total')).toMatch(/^calls_total 6$/m);
  });

  it('shows a value of a store once', async () => {
    for (const metrics of processes) metrics.gauge('pending', 'Waiting.', () => 7, 'max');
    expect(await ofBoth('pending')).toMatch(/^pending 7$/m);
  });

  it('shows the latest success of a task', async () => {
    const [first, second] = processes.map((metrics) => metrics.timestamp('last', 'Last.', []));
    first?.set(10);
    second?.set(20);
    expect(await ofBoth('last')).toMatch(/^last 20$/m);
  });

  it('shows the version once', async () => {
    expect(await ofBoth('switchhook_build_info')).toMatch(/^switchhook_build_info\{.+\} 1$/m);
  });

  it('shows the event-loop lag of the process that is blocked', async () => {
    for (const metrics of processes) metrics.observeProcess();
    const values = await Promise.all(
      processes.map((metrics) => metrics.registry.getMetricsAsJSON()),
    );
    const lags = values.map((all) => all.find(({ name }) => name.endsWith('lag_p99_seconds')));
    expect(lags).toMatchObject([{ aggregator: 'max' }, { aggregator: 'max' }]);
  });
});
