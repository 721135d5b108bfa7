import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Seconds, for what takes from a millisecond to minutes. */
const SECONDS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
];

/**
 * The metrics of the process, named by the conventions of Prometheus. Labels come from short fixed
 * lists: an account, a URL or an id never becomes one.
 */
@Injectable()
export class Metrics {
  private readonly registry = new Registry();

  constructor() {
    // CPU, memory, garbage collection, event-loop delay.
    collectDefaultMetrics({ register: this.registry });
  }

  /**
   * Counts what happens; the name ends in `_total`.
   * @param labels every value of each label: a series that is there from the start, at 0, is one
   * whose first rise shows
   */
  counter<Label extends string>(
    name: string,
    help: string,
    labels = {} as Record<Label, readonly string[]>,
  ): Counter<Label> {
    const labelNames = Object.keys(labels) as Label[];
    const counter = new Counter({ name, help, labelNames, registers: [this.registry] });
    for (const series of combinations(labels)) counter.inc(series, 0);
    return counter;
  }

  /** Durations; the name ends in `_seconds`. */
  seconds<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
  ): Histogram<Label> {
    return new Histogram({
      name,
      help,
      labelNames: [...labelNames],
      buckets: SECONDS,
      registers: [this.registry],
    });
  }

  /**
   * A value that is read when it is asked for. While reading fails it is left out, so that an
   * alert on its absence can tell.
   */
  gauge(name: string, help: string, read: () => number | Promise<number>): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      async collect() {
        try {
          this.set(await read());
        } catch {
          this.remove();
        }
      },
    });
  }

  /** When something last happened, set by `setToCurrentTime`; the name ends in `_timestamp_seconds`. */
  timestamp<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
  ): Gauge<Label> {
    return new Gauge({ name, help, labelNames: [...labelNames], registers: [this.registry] });
  }

  /** All metrics in the text format of Prometheus. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  get contentType(): string {
    return this.registry.contentType;
  }
}

/** Every choice of one value for each label. */
function combinations<Label extends string>(
  labels: Record<Label, readonly string[]>,
): Partial<Record<Label, string>>[] {
  return Object.entries<readonly string[]>(labels).reduce<Partial<Record<Label, string>>[]>(
    (chosen, [label, values]) =>
      chosen.flatMap((choice) => values.map((value) => ({ ...choice, [label]: value }))),
    [{}],
  );
}
