export type SpanKind = 'server' | 'producer' | 'consumer' | 'client';

/** A span to start, in the terms of OpenTelemetry's semantic conventions. */
export interface SpanStart {
  name: string;
  kind: SpanKind;
  /** A `traceparent` (W3C Trace Context); by default the current span. */
  parent?: string | undefined;
  attributes?: Record<string, string | number>;
}

/** An open span. */
export interface Span {
  rename(name: string): void;
  set(attribute: string, value: string | number): void;
  /** @param type the error, from a short fixed list */
  fail(type: string): void;
}

const NO_SPAN: Span = { rename: ignore, set: ignore, fail: ignore };

/**
 * Traces work across processes. This implementation does nothing, at no cost; it is replaced if
 * `OTEL_EXPORTER_OTLP_ENDPOINT` is set.
 */
export class Tracing {
  readonly enabled: boolean = false;

  /** The current span as a `traceparent`; undefined if there is none. */
  get traceparent(): string | undefined {
    return undefined;
  }

  /** Runs work in a span that ends with it. Everything it calls sees that span as the current one. */
  span<Result>(_start: SpanStart, work: (span: Span) => Promise<Result>): Promise<Result> {
    return work(NO_SPAN);
  }
}

function ignore(): void {
  // There is no span to change.
}
