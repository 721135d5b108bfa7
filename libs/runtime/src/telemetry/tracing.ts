/** Who is at work: one that answers, sends a message, takes a message, or asks. */
export type SpanKind = 'server' | 'producer' | 'consumer' | 'client';

/** A span as it is begun, in the words of OpenTelemetry's semantic conventions. */
export interface SpanStart {
  name: string;
  kind: SpanKind;
  /** A `traceparent` (W3C Trace Context); by default the span that is under way. */
  parent?: string | undefined;
  attributes?: Record<string, string | number>;
}

/** A span under way. */
export interface Span {
  rename(name: string): void;
  set(attribute: string, value: string | number): void;
  /** @param type the error, from a short fixed list */
  fail(type: string): void;
}

const NO_SPAN: Span = { rename: ignore, set: ignore, fail: ignore };

/**
 * Traces work from process to process. This one traces nothing, at no cost; it is replaced where
 * `OTEL_EXPORTER_OTLP_ENDPOINT` is set.
 */
export class Tracing {
  readonly enabled: boolean = false;

  /** The span under way as a `traceparent`; undefined: there is none. */
  get traceparent(): string | undefined {
    return undefined;
  }

  /** Does work in a span, which ends with it; whatever it calls finds that span under way. */
  span<Result>(_start: SpanStart, work: (span: Span) => Promise<Result>): Promise<Result> {
    return work(NO_SPAN);
  }
}

function ignore(): void {
  // Nobody looks.
}
